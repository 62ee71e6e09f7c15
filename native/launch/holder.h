// The thread that keeps a child's working directory beyond the child's end.
#ifndef FORKLINE_HOLDER_H
#define FORKLINE_HOLDER_H

#include "launch.h"

// Does `work` on a new thread whose working directory and umask are its own (a
// copy of this thread's), and returns when it is done. If it succeeded, the
// thread stays until forkline_release, and shares both with whatever `work` has
// cloned with CLONE_FS; otherwise it ends. Every signal must be blocked.
// Returns 0, or the errno that kept the thread from being.
int forkline_hold(forkline_holder *holder, bool (*work)(void *), void *argument);

#endif  // FORKLINE_HOLDER_H
