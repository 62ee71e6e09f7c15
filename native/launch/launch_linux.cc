// Linux: clone(CLONE_VM | CLONE_VFORK) with a pidfd.
//
// The child borrows the parent's memory, on a stack of its own, and the calling
// thread sleeps until the child execs or exits. So a launch copies no page
// tables and costs the same from a 4 GiB process as from a small one.
//
// Everything the child does is a plain system call: another thread may hold
// any lock at the moment of the clone, and errno is the caller's.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "descriptors.h"
#include "holder.h"
#include "launch.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace {

// The kernel's signal set: libc's own hides the two signals it keeps for itself,
// and those must be blocked too while the child shares our memory.
struct KernelSignals {
  unsigned long words[_NSIG / 8 / sizeof(unsigned long)];
};

// What sigaction(2) really takes; a zeroed one is 'default disposition'.
struct KernelSigaction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  KernelSignals mask;
};

void set_mask(const KernelSignals &mask, KernelSignals *before) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, before, sizeof mask);
}

// A thread that blocks SIGCHLD has the kernel queue it when a child ends, even
// though it is ignored, and interrupt the host's main thread with it. Nobody
// sends it to a child that has no children.
// A holder's thread has no place to run a handler, so there it is blocked too.
KernelSignals to_block(const forkline_request &request) {
  KernelSignals signals;
  memset(&signals, 0xff, sizeof signals);
  if (request.holder == nullptr) signals.words[0] &= ~(1UL << (SIGCHLD - 1));
  return signals;
}

struct Child {
  const forkline_request *request;
  forkline_launched *launched;
  pid_t parent;
  int sources[FORKLINE_SLOTS];  // to become 0, 1, 2 and the script's
  bool shares_table;            // the parent's descriptors, until the child unshares them
};

[[noreturn]] void fail(const Child &child, forkline_step step) {
  child.launched->step = step;
  child.launched->error = errno;
  // _exit is exit_group: right, since the child is a thread group of its own.
  for (;;) syscall(SYS_exit_group, 127);
}

// Handlers are this process's code and memory, and ignored signals would stay
// ignored through exec (`yes | head` would never see SIGPIPE). Both go.
void reset_signals() {
  KernelSigaction fresh;
  memset(&fresh, 0, sizeof fresh);
  for (int number = 1; number < _NSIG; number++) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    syscall(SYS_rt_sigaction, number, &fresh, nullptr, sizeof fresh.mask);
  }
}

// Without a parent, nobody would end this child any more. The signal is tied to
// the thread that clones, so that thread must live as long as the process.
void follow_parent(const Child &child) {
  if (child.request->parent_death == 0) return;
  if (prctl(PR_SET_PDEATHSIG, child.request->parent_death) != 0)
    fail(child, FORKLINE_STEP_PARENT_DEATH);
  // It may have died before the line above. (0: the parent is outside our pid namespace.)
  pid_t parent = getppid();
  if (parent != child.parent && parent != 0) {
    errno = ESRCH;
    fail(child, FORKLINE_STEP_PARENT_DEATH);
  }
}

// A descriptor of a directory is that directory, wherever the host has gone meanwhile.
void enter_directory(const Child &child) {
  const forkline_request &request = *child.request;
  int entered = 0;
  if (request.directory != nullptr)
    entered = chdir(request.directory);
  else if (request.directory_fd >= 0)
    entered = fchdir(request.directory_fd);
  if (entered != 0) fail(child, FORKLINE_STEP_DIRECTORY);
}

// From here on the child's descriptors are its own. The kernel copies only those
// below the first one that is to be closed, however many there are above.
void unshare_table(const Child &child) {
  if (!child.shares_table) return;
  int last = *std::max_element(child.sources, child.sources + FORKLINE_SLOTS);
  if (syscall(SYS_close_range, last + 1, ~0U, CLOSE_RANGE_UNSHARE) != 0)
    fail(child, FORKLINE_STEP_CLOSE);
}

// Puts the four descriptors in their places. A source that stands where another
// one must go is first moved above them all.
void place_descriptors(const Child &child) {
  const int count = child.request->script >= 0 ? 4 : 3;
  int sources[FORKLINE_SLOTS];
  memcpy(sources, child.sources, sizeof sources);
  for (int target = 0; target < count; target++) {
    if (sources[target] >= count || sources[target] == target) continue;
    sources[target] = fcntl(sources[target], F_DUPFD, count);
    if (sources[target] < 0) fail(child, FORKLINE_STEP_STDIO);
  }
  for (int target = 0; target < count; target++) {
    // dup2 onto itself would leave close-on-exec set.
    int placed =
        sources[target] == target ? fcntl(target, F_SETFD, 0) : dup2(sources[target], target);
    if (placed < 0) fail(child, FORKLINE_STEP_STDIO);
  }
  if (!forkline_close_from(count)) fail(child, FORKLINE_STEP_CLOSE);
}

[[noreturn]] void exec_first(const Child &child) {
  const forkline_request &request = *child.request;
  for (size_t index = 0; index < request.image_count; index++) {
    child.launched->image = index;
    execve(request.images[index].path, request.images[index].argv, request.envp);
    if (errno != ENOENT && errno != ENOTDIR) break;
  }
  fail(child, FORKLINE_STEP_EXEC);
}

int run_child(void *argument) {
  const Child &child = *static_cast<const Child *>(argument);
  const forkline_request &request = *child.request;
  // Own session: own process group to signal, no controlling terminal to read from.
  if (setsid() < 0) fail(child, FORKLINE_STEP_SESSION);
  follow_parent(child);
  enter_directory(child);
  unshare_table(child);
  place_descriptors(child);
  if (request.terminal && ioctl(0, TIOCSCTTY, 0) != 0) fail(child, FORKLINE_STEP_TERMINAL);
  reset_signals();
  // Only now: a signal that arrives from here on kills the child, not the parent's handler.
  set_mask(KernelSignals{}, nullptr);
  exec_first(child);
}

bool can_unshare() {
  // An empty range closes nothing; the flag came with the call, in Linux 5.9.
  return syscall(SYS_close_range, ~0U, ~0U, 0) == 0;
}

// Puts the child's descriptors into the reserved slots, if there are any.
void fill_slots(Child &child) {
  const forkline_request &request = *child.request;
  const int wanted[FORKLINE_SLOTS] = {request.stdio[0], request.stdio[1], request.stdio[2],
                                      request.script};
  child.shares_table = request.slots != nullptr && can_unshare();
  for (int index = 0; index < FORKLINE_SLOTS; index++) {
    child.sources[index] = wanted[index];
    if (!child.shares_table || wanted[index] < 0) continue;
    if (dup3(wanted[index], request.slots[index], O_CLOEXEC) < 0) {
      // Nothing is lost: the child can be given a table of its own, whole.
      child.shares_table = false;
      memcpy(child.sources, wanted, sizeof wanted);
      return;
    }
    child.sources[index] = request.slots[index];
  }
}

// A slot that kept a pipe's writing end would keep the pipe from ending.
void empty_slots(const Child &child) {
  const forkline_request &request = *child.request;
  if (request.slots == nullptr) return;
  for (int index = 0; index < FORKLINE_SLOTS; index++)
    dup3(request.filler, request.slots[index], O_CLOEXEC);
}

// Clones the child, and returns when it has exec'ed, or failed and been reaped.
bool start_child(void *argument) {
  Child &child = *static_cast<Child *>(argument);
  const forkline_request &request = *child.request;
  forkline_launched &launched = *child.launched;
  int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
  if (child.shares_table) flags |= CLONE_FILES;
  if (request.holder != nullptr) flags |= CLONE_FS;
  void *stack_top = static_cast<char *>(request.stack) + request.stack_size;
  int pidfd = -1;
  pid_t pid = clone(run_child, stack_top, flags, &child, &pidfd);

  if (pid < 0) {
    launched.step = FORKLINE_STEP_CLONE;
    launched.error = errno;
  } else if (launched.step != FORKLINE_STEP_NONE) {
    // The child has exited by itself; by pidfd, so that no other child is reaped.
    siginfo_t ignored;
    while (waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd), &ignored, WEXITED) !=
               0 &&
           errno == EINTR) {
    }
    close(pidfd);
  } else {
    launched.pid = pid;
    launched.pidfd = pidfd;
  }
  return launched.step == FORKLINE_STEP_NONE;
}

}  // namespace

extern "C" int forkline_launch(const forkline_request *request, forkline_launched *launched) {
  *launched = forkline_launched{-1, -1, FORKLINE_STEP_NONE, 0, 0};
  Child child{request, launched, getpid(), {}, false};
  fill_slots(child);

  // The first thing saved is the last restored: between the two, no handler of
  // the host may run, in the parent on half-changed state or in the child at all.
  KernelSignals before;
  set_mask(to_block(*request), &before);

  if (request->holder == nullptr) {
    start_child(&child);
  } else if (int error = forkline_hold(request->holder, start_child, &child); error != 0) {
    launched->step = FORKLINE_STEP_CLONE;
    launched->error = error;
  }

  empty_slots(child);
  set_mask(before, nullptr);
  return launched->step == FORKLINE_STEP_NONE ? 0 : -1;
}

extern "C" int forkline_launch_supported(void) {
  // A kernel that can wait for a pidfd says that this is none; an older one knows no such wait.
  // Not by a pidfd of our own: a container's filter may refuse to open one, and we need not.
  siginfo_t ignored;
  const id_t kNone = INT_MAX;
  int waited = waitid(static_cast<idtype_t>(P_PIDFD), kNone, &ignored, WEXITED | WNOHANG);
  if (waited == 0 || errno == EBADF) return 0;
  return errno == EINVAL ? ENOSYS : errno;
}
