// The code between clone and exec.
//
// One call starts one program in a new session and returns when the program has been exec'ed, or
// when a step failed. Nothing here allocates, locks or calls back: the child runs on the caller's
// memory until exec.
#ifndef FORKLINE_LAUNCH_H
#define FORKLINE_LAUNCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// The steps of a launch, in the order they are taken. The failed step is reported with its errno,
// so that 'no such directory' and 'no such program' are told apart although both are ENOENT. (The
// last step comes after the third.)
enum forkline_step {
  FORKLINE_STEP_NONE = 0,
  FORKLINE_STEP_CLONE = 1,         // EAGAIN: process limit; ENOMEM; EPERM: can't drop capabilities
  FORKLINE_STEP_SESSION = 2,       // setsid
  FORKLINE_STEP_PARENT_DEATH = 3,  // the caller died before the child could ask for a signal
  FORKLINE_STEP_DIRECTORY = 4,     // chdir
  FORKLINE_STEP_STDIO = 5,         // descriptors 0, 1, 2 and the script's
  FORKLINE_STEP_CLOSE = 6,         // close_range of everything else
  FORKLINE_STEP_TERMINAL = 7,      // taking the controlling terminal
  FORKLINE_STEP_EXEC = 8,          // ENOENT, EACCES, ENOEXEC, E2BIG, ...
  FORKLINE_STEP_GROUP = 9          // entering a control group
};

// A program to try: a path (no search) and its arguments, NULL-terminated.
struct forkline_image {
  const char *path;  // NULL: the file that is descriptor 2 of the child
  char *const *argv;
};

// A resource limit as setrlimit(2) takes it.
struct forkline_limit {
  int resource;
  uint64_t soft;
  uint64_t hard;
};

// Attributes in which a program differs from its caller.
struct forkline_attributes {
  const struct forkline_limit *limits;
  size_t limit_count;
  int mask;      // umask; -1: the caller's
  int has_nice;  // 0: the caller's
  int nice;
  int has_session_nice;  // 0: that of a new session
  int session_nice;      // for kernels that distribute processors by session
  const void *affinity;  // a mask of processors; NULL: the caller's
  size_t affinity_size;
  int has_oom_score;  // 0: the caller's
  int oom_score;      // oom_score_adj: the highest one is ended first when memory runs out
  int has_bounding;   // 0: the caller's
  uint64_t bounding;  // the bounding set of capabilities
};

struct forkline_request {
  // Tried in order; the next image only when exec says that this one does not exist.
  const struct forkline_image *images;
  size_t image_count;
  char *const *envp;      // NULL-terminated KEY=value strings
  const char *directory;  // NULL: directory_fd
  int directory_fd;       // an open directory, O_PATH is enough; -1: the caller's
  int stdio[3];           // descriptors to become 0, 1 and 2; may be the same one
  int script;             // descriptor to become FORKLINE_SCRIPT_FD; -1: none
  int groups[2];          // `cgroup.procs` of control groups to enter, open to be written; -1: none
  int parent_death;       // signal to the child when the calling thread ends; 0: none
  int terminal;           // 1: descriptor 0 is a terminal, to become the controlling one
  int share_directory;    // 1: caller and child have one working directory, umask and root
  int want_pidfd;         // 1: a pidfd is wanted
  int outer_proc;         // a /proc of another PID namespace; -1: none
  uint64_t reset;         // signals (number n: bit n - 1) to reset to the default disposition
  const struct forkline_attributes *attributes;  // NULL: the caller's
  void *stack;                                   // lowest byte of the child's stack, page-aligned
  size_t stack_size;                             // at least FORKLINE_STACK_SIZE
};

struct forkline_launched {
  pid_t pid;        // also the process-group and session id
  int pidfd;        // close-on-exec; the caller closes it; -1: not wanted
  int step;         // FORKLINE_STEP_NONE, or the step that failed (pid and pidfd are -1)
  int error;        // errno of the failed step
  pid_t outer_pid;  // its process id in outer_proc; 0: none
  int share;        // errno of setting its session's nice value; 0: set
  int oom_score;    // errno of setting its oom_score_adj; 0: set
};

enum { FORKLINE_SCRIPT_FD = 3, FORKLINE_STACK_SIZE = 64 * 1024 };

// Starts a program. Blocks the calling thread, and no other, until the exec. Returns 0, or -1
// with `step` and `error` set and no child left. Two threads may call it at once, each with a
// stack of its own.
int forkline_launch(const struct forkline_request *request, struct forkline_launched *launched);

#ifdef __cplusplus
}
#endif

#endif  // FORKLINE_LAUNCH_H
