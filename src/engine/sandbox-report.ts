/**
 * What a sandbox keeps commands from: writing elsewhere, reading what is hidden, finding others'
 * temporary files, the network, sockets of others, other processes, sockets of rare families, and
 * gaining rights.
 */
export type SandboxLine =
  | 'write'
  | 'read'
  | 'tmp'
  | 'network'
  | 'unixSockets'
  | 'processes'
  | 'socketFamilies'
  | 'privileges';

/** What keeps a line; `none`: nothing, because it was not asked for or could not be had. */
export type Enforcement = 'namespace' | 'landlock' | 'seccomp' | 'proxy' | 'none';

/** What became of a command's sandbox. */
export interface SandboxReport {
  /** What keeps each line. */
  readonly enforced: Readonly<Record<SandboxLine, Enforcement>>;
  /** What could be written to, besides temporary directories. */
  readonly writable: readonly string[];
  /**
   * What it was denied, as far as that is known and sure. That there is none proves nothing: programs
   * need not tell.
   */
  readonly denials: readonly Denial[];
  /**
   * Why there may be others that somebody else would have seen, one line each; absent: there is no such
   * reason.
   */
  readonly unseen?: readonly string[];
}

/** Something that a sandbox did not let a command do. */
export interface Denial {
  /**
   * Writing to or reading what is at a path, connecting to a host or to another's socket by its path, or
   * making a socket of a family that is kept out.
   */
  readonly kind: 'write' | 'read' | 'connect' | 'socket';
  /** A path, a host, an address with its port, a family of sockets. */
  readonly target: string;
  /** The field of the policy that it comes from. */
  readonly rule: string;
  /**
   * Who tells: the kernel; or the command's output, where it has the target beside an error of the
   * system, the policy refuses just that, and the host itself could do it; or the proxy, of all that
   * ran in the sandbox meanwhile.
   */
  readonly source: 'kernel' | 'output' | 'proxy';
}
