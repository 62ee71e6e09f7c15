// The descriptors that a child does not keep.
#ifndef FORKLINE_DESCRIPTORS_H
#define FORKLINE_DESCRIPTORS_H

// Closes every descriptor from this number on; the caller's table must be its own.
// Close-on-exec would do for most, but a host may hold descriptors that lack it.
// Returns false, with errno, when it can't be told which there are.
bool forkline_close_from(int first);

#endif  // FORKLINE_DESCRIPTORS_H
