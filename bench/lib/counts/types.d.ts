/** Who does a part of a command's work. */
export type Kind = 'main thread' | 'launcher' | 'reactor' | 'other threads' | 'keeper' | 'cradle';

/** A thread of the host, or another process of forkline's. */
export interface Task {
  readonly id: number;
  readonly kind: Kind;
}

/** What the kernel has counted of a task. */
export interface Work {
  readonly kind: Kind;
  /** How often it has waited. */
  readonly voluntary: number;
  /** How often another task has got its processor. */
  readonly preempted: number;
  readonly cpuNs: number;
  /** Undefined: not counted. */
  readonly allocations?: number;
}

/** What one kind of tasks does for one command, on average. */
export interface Row {
  readonly kind: Kind;
  /** System calls, by name; the most frequent ones first. */
  readonly calls: ReadonlyMap<string, number>;
  readonly voluntary: number;
  readonly preempted: number;
  readonly cpuUs: number;
  /** Undefined: not counted. */
  readonly allocations?: number;
}

/** What one command takes, on average. */
export interface Counts {
  readonly lanes: number;
  readonly rows: readonly Row[];
  /** Bytes of V8's heap. */
  readonly heapBytes: number;
  /** Calls of functions of forkline in JavaScript. */
  readonly frames: number;
  /** Why no system calls were counted. */
  readonly missing?: string;
}
