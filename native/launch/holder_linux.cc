// Linux: a thread that shares its working directory with a child, and with
// nobody else.
//
// A process that has ended has no working directory any more, and a shell can't be
// relied upon to tell it before (`exit`, `exec`, traps, SIGKILL). But a directory
// can be shared (CLONE_FS), and then it is there as long as anyone who shares it.
//
// pthread_create shares this process's own directory with the new thread, and
// unshare(2) is forbidden in many containers. So the thread is made by clone(2)
// itself, without CLONE_FS. It has no thread-local storage of its own: it stands
// on that of the thread that made it, which sleeps while `work` is done. After
// that it makes bare system calls alone, which touch no memory but the state.
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "holder.h"

namespace {

enum State : int { kWorking = 0, kHolding = 1, kReleased = 2 };

// A system call that leaves errno alone.
long bare_syscall(long number, long first, long second, long third, long fourth) {
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = fourth;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = first;
  register long x1 asm("x1") = second;
  register long x2 asm("x2") = third;
  register long x3 asm("x3") = fourth;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#else
#error "this processor is not supported"
#endif
}

// Calls `run(argument)` on a new thread and stack, and ends the thread when it
// returns. clone(3) of musl refuses to make threads, hence by hand.
// Returns its id, or minus an errno.
long clone_thread(unsigned long flags, void *stack_top, int *id, void (*run)(void *),
                  void *argument) {
  void **top = static_cast<void **>(stack_top);
  *--top = reinterpret_cast<void *>(run);
  *--top = argument;
#if defined(__x86_64__)
  long result;
  register int *child_id asm("r10") = id;
  register long storage asm("r8") = 0;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"  // the outermost frame
      "pop %%rdi\n\t"
      "pop %%rax\n\t"
      "call *%%rax\n\t"
      "xor %%edi, %%edi\n\t"
      "mov %[exit], %%eax\n\t"
      "syscall\n"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone), "D"(flags), "S"(top), "d"(id), "r"(child_id),
        "r"(storage), [exit] "i"(SYS_exit)
      : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register unsigned long x0 asm("x0") = flags;
  register void *x1 asm("x1") = top;
  register int *x2 asm("x2") = id;
  register long x3 asm("x3") = 0;
  register int *x4 asm("x4") = id;
  register long x8 asm("x8") = SYS_clone;
  asm volatile(
      "svc 0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "ldp x0, x1, [sp], #16\n\t"
      "blr x1\n\t"
      "mov x0, xzr\n\t"
      "mov x8, %[exit]\n\t"
      "svc 0\n"
      "1:"
      : "+r"(x0)
      : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8), [exit] "i"(SYS_exit)
      : "memory");
  return static_cast<long>(x0);
#endif
}

struct Task {
  forkline_holder *holder;
  bool (*work)(void *);
  void *argument;
};

void set_state(forkline_holder *holder, State state) {
  __atomic_store_n(&holder->state, state, __ATOMIC_RELEASE);
  bare_syscall(SYS_futex, reinterpret_cast<long>(&holder->state), FUTEX_WAKE_PRIVATE, INT_MAX, 0);
}

// Returns once the state is another one. Interrupted, or late: it is looked at again.
void wait_while(forkline_holder *holder, State state) {
  while (__atomic_load_n(&holder->state, __ATOMIC_ACQUIRE) == state)
    bare_syscall(SYS_futex, reinterpret_cast<long>(&holder->state), FUTEX_WAIT_PRIVATE, state, 0);
}

void run_thread(void *argument) {
  // A copy: the original is gone once the maker goes on.
  const Task task = *static_cast<Task *>(argument);
  prctl(PR_SET_NAME, "forkline-hold");
  const bool succeeded = task.work(task.argument);
  set_state(task.holder, succeeded ? kHolding : kReleased);
  wait_while(task.holder, kHolding);
}

}  // namespace

int forkline_hold(forkline_holder *holder, bool (*work)(void *), void *argument) {
  Task task{holder, work, argument};
  holder->state = kWorking;
  // All that a thread is, but for CLONE_FS. The kernel writes its id, and 0 at its end.
  const unsigned long flags = CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                              CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  void *stack_top = static_cast<char *>(holder->stack) + holder->stack_size;
  long id = clone_thread(flags, stack_top, &holder->thread, run_thread, &task);
  if (id < 0) return static_cast<int>(-id);
  wait_while(holder, kWorking);
  return 0;
}

extern "C" void forkline_release(forkline_holder *holder) {
  set_state(holder, kReleased);
}
