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

/**
 * What keeps a line; `none`: nothing, because it was not asked for or could not be had. `mount`, of what is
 * hidden: each file and directory as it was when the sandbox was made; one that the host puts in its place
 * while a command runs is seen by that.
 */
export type Enforcement = 'namespace' | 'mount' | 'landlock' | 'seccomp' | 'proxy' | 'none';

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
  /**
   * What git was to replace when it moved HEAD or the index, and could not, since the sandbox keeps it;
   * absent: nothing, as far as could be seen.
   */
  readonly incomplete?: readonly IncompleteCheckout[];
  /**
   * It is another sandbox than that of the commands before with this policy in this workspace: what was on
   * its `/tmp` is not there, and what runs in the other one is out of reach. Told to one command.
   */
  readonly renewed?: true;
}

/** A kept name that git tracks, and that is not what the checked out commit has there. */
export interface IncompleteCheckout {
  /** The kept name, relative to the working tree: `.npmrc`, `.vscode`. */
  readonly path: string;
  /** The topmost directory of the working tree. */
  readonly repository: string;
  /** The branch that is checked out, or the commit where none is. */
  readonly head: string;
  /** Files of it that are not as `head` has them; they may be missing. */
  readonly changed: readonly string[];
  /** Files of it that are not as the index has them, in the middle of a merge for instance. */
  readonly staged: readonly string[];
  /** Files of it that are there, although `head` has none. */
  readonly leftover: readonly string[];
  /** Commits that the command has made with what was left behind. */
  readonly recorded: readonly RecordedLeftover[];
}

/** A commit that has what an incomplete checkout left behind. */
export interface RecordedLeftover {
  /** Its id. */
  readonly commit: string;
  /** Whether it is the one that is checked out. */
  readonly isHead: boolean;
  /** Files of which the commit before it has another content. */
  readonly changed: readonly string[];
  /** Files that the commit before it does not have. */
  readonly added: readonly string[];
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
