// Closing the descriptors that a child does not keep.
#ifndef FORKLINE_DESCRIPTORS_H
#define FORKLINE_DESCRIPTORS_H

// Closes every descriptor from `first` on; the calling process's descriptor table must be its
// own. Close-on-exec would do for most, but a host may hold descriptors that lack it. Returns
// false, with errno, when the open descriptors can't be found out.
bool forkline_close_from(int first);

#endif  // FORKLINE_DESCRIPTORS_H
