/**
 * By what each of a command's limits was kept: a control group of its own, or a limit of each of its
 * processes. `oom-score`: there could be no group, and it could take more than `memoryBytes`; but the
 * kernel, when the machine or the host's own group runs out of memory, ends it before the host.
 */
export interface LimitsReport {
  /** Absent: there was no such limit. */
  readonly memoryBytes?: 'group' | 'oom-score';
  /** Absent: there was no such limit. */
  readonly processes?: 'group';
  /** Absent: there was no such limit. */
  readonly cpuSeconds?: 'rlimit';
}
