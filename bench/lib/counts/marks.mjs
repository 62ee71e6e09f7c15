/** Paths that do not exist: looking for them marks a place among the system calls of a thread. */
export const BEGIN = '/forkline-counts/begin';
export const END = '/forkline-counts/end';
