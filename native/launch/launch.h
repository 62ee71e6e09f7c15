// What happens between clone and exec.
//
// One call starts one program in a new session and returns when the program
// has been exec'ed, or when a step failed. Nothing here allocates, locks or
// calls back: the child runs on the caller's memory until exec.
#ifndef FORKLINE_LAUNCH_H
#define FORKLINE_LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// The steps of a launch, in the order they are taken. The one that failed is
// reported with its errno, so that 'no such directory' and 'no such program'
// are told apart although both are ENOENT.
enum forkline_step {
  FORKLINE_STEP_NONE = 0,
  FORKLINE_STEP_CLONE = 1,         // EAGAIN: process limit; ENOMEM
  FORKLINE_STEP_SESSION = 2,       // setsid
  FORKLINE_STEP_PARENT_DEATH = 3,  // the host died before the child could ask to be told
  FORKLINE_STEP_DIRECTORY = 4,     // chdir
  FORKLINE_STEP_STDIO = 5,         // descriptors 0, 1, 2 and the script's
  FORKLINE_STEP_CLOSE = 6,         // close_range of everything else
  FORKLINE_STEP_TERMINAL = 7,      // making the terminal the controlling one
  FORKLINE_STEP_EXEC = 8           // ENOENT, EACCES, ENOEXEC, E2BIG, ...
};

// A program to try: a path (no search) and its arguments, NULL-terminated.
struct forkline_image {
  const char *path;
  char *const *argv;
};

struct forkline_request {
  // Tried in order; the next one only when exec says that this one does not exist.
  const struct forkline_image *images;
  size_t image_count;
  char *const *envp;               // NULL-terminated KEY=value strings
  const char *directory;           // NULL: the one below
  int directory_fd;                // an open directory, O_PATH is enough; -1: the host's own
  int stdio[3];                    // descriptors to become 0, 1 and 2; may be the same one
  int script;                      // descriptor to become FORKLINE_SCRIPT_FD; -1: none
  int parent_death;                // signal to the child when the calling thread ends; 0: none
  int terminal;                    // 1: descriptor 0 is a terminal, to become the controlling one
  const int *slots;                // FORKLINE_SLOTS reserved descriptors, see below; NULL: none
  int filler;                      // what the slots hold between launches
  void *stack;                     // lowest byte of the child's stack, page-aligned
  size_t stack_size;               // at least FORKLINE_STACK_SIZE
  struct forkline_holder *holder;  // keeps the child's working directory; NULL: nobody does
};

// A thread that shares a child's working directory, and does nothing else. It sees
// every change until the child ends, and keeps the last one until it is released.
struct forkline_holder {
  int thread;         // its id; 0: it is not there, or no longer, and its stack is free
  int state;          // its own affair
  void *stack;        // lowest byte of its stack, page-aligned
  size_t stack_size;  // at least FORKLINE_HOLDER_STACK_SIZE
};

struct forkline_launched {
  pid_t pid;     // also the process-group and session id
  int pidfd;     // close-on-exec; the caller closes it
  int step;      // FORKLINE_STEP_NONE, or the step that failed (pid and pidfd are -1)
  int error;     // errno of the failed step
  size_t image;  // index of the image that was exec'ed, or tried last
};

// A child copies its parent's descriptor table and closes the copies, which takes
// longer than all the rest when the host holds thousands. So a launcher reserves
// a few low descriptors early; a launch puts the child's into them, shares the
// table, and the child unshares only its low part. One set for each thread that
// launches.
enum { FORKLINE_SLOTS = 4 };

enum {
  FORKLINE_SCRIPT_FD = 3,
  FORKLINE_STACK_SIZE = 64 * 1024,
  FORKLINE_HOLDER_STACK_SIZE = 16 * 1024
};

// Starts a program. Blocks the calling thread, and no other, until the exec.
// Returns 0, or -1 with `step` and `error` set and no child left behind.
// Two threads may call it at once with a stack each.
int forkline_launch(const struct forkline_request *request, struct forkline_launched *launched);

// Lets a holder's thread end, if there is one. Not before the child has ended: its
// parent is that thread (see `parent_death`).
void forkline_release(struct forkline_holder *holder);

// 0 when this kernel can do what the above needs (pidfds one can wait for:
// Linux 5.4), else the errno that says why not.
int forkline_launch_supported(void);

#ifdef __cplusplus
}
#endif

#endif  // FORKLINE_LAUNCH_H
