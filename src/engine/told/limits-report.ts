/**
 * How each of a command's limits was enforced: by a control group of its own, or by a limit for each of
 * its processes. `oom-score`: no group was possible, and the command could take more than `memoryBytes`;
 * but when the machine or the host's own group runs out of memory, the kernel ends it before the host.
 */
export interface LimitsReport {
  /** Absent when there was no such limit. */
  readonly memoryBytes?: 'group' | 'oom-score';
  /** Absent when there was no such limit. */
  readonly processes?: 'group';
  /** Absent when there was no such limit. */
  readonly cpuSeconds?: 'rlimit';
  /**
   * The limits that the command has run into, as far as that was seen; absent when it has run into none. For
   * memory, see `outOfMemory`. For `processes`, its group has counted a process that could not be started. For
   * `cpuSeconds`, the limit's signal has ended the command or its last program; one that ended another process
   * of it is not seen.
   */
  readonly reached?: readonly ReachedLimit[];
}

/** A limit that a command has run into. */
export type ReachedLimit = 'processes' | 'cpuSeconds';
