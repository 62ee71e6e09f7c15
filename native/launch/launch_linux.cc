// Linux: clone(CLONE_VM | CLONE_VFORK).
//
// The child borrows the parent's memory, on a stack of its own, and the calling
// thread sleeps until the child execs or exits. So a launch copies no page
// tables and costs the same from a 4 GiB process as from a small one.
//
// Everything the child does is a plain system call: another thread may hold
// any lock at the moment of the clone, and errno is the caller's.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "descriptors.h"
#include "launch.h"

namespace {

// The kernel's signal set: libc's own type hides the two signals that libc reserves, and those
// must be blocked too while the child shares our memory.
struct KernelSignals {
  unsigned long words[_NSIG / 8 / sizeof(unsigned long)];
};

// The structure that sigaction(2) takes in the kernel; zeros mean the default disposition.
struct KernelSigaction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  KernelSignals mask;
};

void set_mask(const KernelSignals &mask, KernelSignals *before) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, before, sizeof mask);
}

KernelSignals all_signals() {
  KernelSignals signals;
  memset(&signals, 0xff, sizeof signals);
  return signals;
}

struct Child {
  const forkline_request *request;
  forkline_launched *launched;
  pid_t parent;
};

[[noreturn]] void fail(const Child &child, forkline_step step) {
  child.launched->step = step;
  child.launched->error = errno;
  // _exit is exit_group, which is right here: the child is a thread group of its own.
  for (;;) syscall(SYS_exit_group, 127);
}

// Resets signals to their default dispositions. Handlers are this process's code and memory, and
// ignored signals would stay ignored through exec (`yes | head` would never see SIGPIPE).
void reset_signals(uint64_t signals) {
  KernelSigaction fresh;
  memset(&fresh, 0, sizeof fresh);
  for (int number = 1; number < _NSIG; number++) {
    bool concerned = (signals >> (number - 1) & 1) != 0;
    if (!concerned || number == SIGKILL || number == SIGSTOP) continue;
    syscall(SYS_rt_sigaction, number, &fresh, nullptr, sizeof fresh.mask);
  }
}

// Stores the process id that the child has outside its PID namespace, which it can't ask for by
// itself: `self` in the outer /proc is a link to the reading process.
void tell_outer_pid(const Child &child) {
  if (child.request->outer_proc < 0) return;
  char link[16];
  ssize_t length = readlinkat(child.request->outer_proc, "self", link, sizeof link);
  pid_t number = 0;
  for (ssize_t at = 0; at < length && link[at] >= '0' && link[at] <= '9'; at++)
    number = number * 10 + (link[at] - '0');
  child.launched->outer_pid = number;
}

// Enters the control groups: writing 0 to `cgroup.procs` moves the writing process.
void enter_groups(const Child &child) {
  for (int group : child.request->groups)
    if (group >= 0 && write(group, "0", 1) != 1) fail(child, FORKLINE_STEP_GROUP);
}

// Has the kernel signal the child when its parent dies, since no other process would end it then.
// The signal is tied to the cloning thread, so that thread must live as long as the process.
void follow_parent(const Child &child) {
  if (child.request->parent_death == 0) return;
  if (prctl(PR_SET_PDEATHSIG, child.request->parent_death) != 0)
    fail(child, FORKLINE_STEP_PARENT_DEATH);
  // The parent may have died before the line above. (0: the parent is outside our PID namespace.)
  pid_t parent = getppid();
  if (parent != child.parent && parent != 0) {
    errno = ESRCH;
    fail(child, FORKLINE_STEP_PARENT_DEATH);
  }
}

// Enters the working directory. A descriptor names its directory even if the host has changed its
// own directory meanwhile.
void enter_directory(const Child &child) {
  const forkline_request &request = *child.request;
  int entered = 0;
  if (request.directory != nullptr)
    entered = chdir(request.directory);
  else if (request.directory_fd >= 0)
    entered = fchdir(request.directory_fd);
  if (entered != 0) fail(child, FORKLINE_STEP_DIRECTORY);
}

// Puts the four descriptors in their places. A source whose number is the place of another one is
// first moved above all four.
void place_descriptors(const Child &child) {
  const forkline_request &request = *child.request;
  const int count = request.script >= 0 ? 4 : 3;
  int sources[4] = {request.stdio[0], request.stdio[1], request.stdio[2], request.script};
  for (int target = 0; target < count; target++) {
    if (sources[target] >= count || sources[target] == target) continue;
    sources[target] = fcntl(sources[target], F_DUPFD, count);
    if (sources[target] < 0) fail(child, FORKLINE_STEP_STDIO);
  }
  for (int target = 0; target < count; target++) {
    // dup2 of a descriptor onto itself would leave close-on-exec set.
    int placed =
        sources[target] == target ? fcntl(target, F_SETFD, 0) : dup2(sources[target], target);
    if (placed < 0) fail(child, FORKLINE_STEP_STDIO);
  }
  if (!forkline_close_from(count)) fail(child, FORKLINE_STEP_CLOSE);
}

// Returns whether a nice value counts within its session only (autogroup), or that is unknown.
bool processors_are_shared_by_session() {
  int file = open("/proc/sys/kernel/sched_autogroup_enabled", O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  char answer = '1';
  if (read(file, &answer, 1) < 0) answer = '1';
  close(file);
  return answer != '0';
}

// Writes a number of at most four digits. Returns its length.
size_t print(int number, char text[8]) {
  size_t length = 0;
  if (number < 0) text[length++] = '-';
  const int digits = number < 0 ? -number : number;
  for (int unit = 1000; unit > 0; unit /= 10)
    if (digits >= unit || unit == 1) text[length++] = static_cast<char>('0' + digits / unit % 10);
  return length;
}

// Gives the caller's session a nice value of its own. Returns 0, or the errno.
int set_session_nice(int nice) {
  int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  // A kernel without the file does not group processes by session.
  if (file < 0) return errno == ENOENT && access("/proc/self", F_OK) == 0 ? 0 : errno;
  char text[8];
  int error = write(file, text, print(nice, text)) < 0 ? errno : 0;
  close(file);
  return error != 0 && processors_are_shared_by_session() ? error : 0;
}

// Lowers the priority of the caller's session. The caller itself has its nice value already,
// unless that was denied. Returns 0, or the errno.
int lower_priority(const forkline_attributes &attributes) {
  if (attributes.has_nice && getpriority(PRIO_PROCESS, 0) != attributes.nice) return EPERM;
  return set_session_nice(attributes.session_nice);
}

// Sets the caller's oom_score_adj, which all its children inherit. Returns 0, or the errno.
int set_oom_score(int score) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  char text[8];
  int error = write(file, text, print(score, text)) < 0 ? errno : 0;
  close(file);
  return error;
}

// Applies the attributes to the child. It goes without one that is denied: that could only be
// more than the caller itself has.
void take_attributes(const forkline_attributes &attributes) {
  for (size_t index = 0; index < attributes.limit_count; index++) {
    const forkline_limit &wanted = attributes.limits[index];
    rlimit limit;
    limit.rlim_cur = static_cast<rlim_t>(wanted.soft);
    limit.rlim_max = static_cast<rlim_t>(wanted.hard);
    setrlimit(wanted.resource, &limit);
  }
  if (attributes.mask >= 0) umask(static_cast<mode_t>(attributes.mask));
  if (attributes.has_nice) setpriority(PRIO_PROCESS, 0, attributes.nice);
  if (attributes.affinity != nullptr)
    syscall(SYS_sched_setaffinity, 0, attributes.affinity_size, attributes.affinity);
}

// Drops the capabilities outside the bounding set. A child that can't drop one must not keep it,
// so it does not run.
void drop_capabilities(const Child &child) {
  const forkline_attributes *attributes = child.request->attributes;
  if (attributes == nullptr || !attributes->has_bounding) return;
  for (int capability = 0; capability < 64; capability++) {
    int has = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (has < 0) return;  // There are no more.
    if (has == 0 || (attributes->bounding >> capability & 1) != 0) continue;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) fail(child, FORKLINE_STEP_CLONE);
  }
}

[[noreturn]] void exec_first(const Child &child) {
  const forkline_request &request = *child.request;
  for (size_t index = 0; index < request.image_count; index++) {
    const forkline_image &image = request.images[index];
    if (image.path == nullptr)
      syscall(SYS_execveat, 2, "", image.argv, request.envp, AT_EMPTY_PATH);
    else
      execve(image.path, image.argv, request.envp);
    if (errno != ENOENT && errno != ENOTDIR) break;
  }
  fail(child, FORKLINE_STEP_EXEC);
}

int run_child(void *argument) {
  const Child &child = *static_cast<const Child *>(argument);
  const forkline_request &request = *child.request;
  // A session of its own: its process group can be signalled, and it has no controlling terminal.
  if (setsid() < 0) fail(child, FORKLINE_STEP_SESSION);
  follow_parent(child);
  tell_outer_pid(child);
  enter_groups(child);
  enter_directory(child);
  place_descriptors(child);
  if (request.terminal && ioctl(0, TIOCSCTTY, 0) != 0) fail(child, FORKLINE_STEP_TERMINAL);
  if (request.attributes != nullptr) {
    take_attributes(*request.attributes);
    if (request.attributes->has_session_nice)
      child.launched->share = lower_priority(*request.attributes);
    if (request.attributes->has_oom_score)
      child.launched->oom_score = set_oom_score(request.attributes->oom_score);
  }
  drop_capabilities(child);
  reset_signals(request.reset);
  // Only now: from here on a signal kills the child, and does not run the parent's handler.
  set_mask(KernelSignals{}, nullptr);
  exec_first(child);
}

// Clones the child. Returns when the child has exec'ed, or has failed and been reaped.
void start_child(Child &child) {
  const forkline_request &request = *child.request;
  forkline_launched &launched = *child.launched;
  int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
  if (request.want_pidfd) flags |= CLONE_PIDFD;
  if (request.share_directory) flags |= CLONE_FS;
  void *stack_top = static_cast<char *>(request.stack) + request.stack_size;
  int pidfd = -1;
  pid_t pid = clone(run_child, stack_top, flags, &child, &pidfd);

  if (pid < 0) {
    launched.step = FORKLINE_STEP_CLONE;
    launched.error = errno;
  } else if (launched.step != FORKLINE_STEP_NONE) {
    // The child has exited, and its process id is not reused before it is reaped here.
    while (waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) {
    }
    if (pidfd >= 0) close(pidfd);
  } else {
    launched.pid = pid;
    launched.pidfd = pidfd;
  }
}

}  // namespace

extern "C" int forkline_launch(const forkline_request *request, forkline_launched *launched) {
  *launched = forkline_launched{-1, -1, FORKLINE_STEP_NONE, 0, 0, 0, 0};
  Child child{request, launched, getpid()};
  // Blocked first and restored last: in between no handler of the caller may run, neither in the
  // parent on half-changed state nor in the child at all.
  KernelSignals before;
  set_mask(all_signals(), &before);
  start_child(child);
  set_mask(before, nullptr);
  return launched->step == FORKLINE_STEP_NONE ? 0 : -1;
}
