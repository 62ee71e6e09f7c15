import type { ExecReason, ExecutedProgram } from './executed.js';
import type { ChangeCounts } from './undo/changes.js';

/**
 * A protection of a sandbox: against writing elsewhere, reading hidden paths, finding others' temporary
 * files, the network, others' sockets, other processes, sockets of rare families, gaining privileges, and
 * settings that programs outside obey, and changing the caches of the user's tools. `undo` is no protection: what
 * commands change can be taken back.
 */
export type SandboxLine =
  | 'write'
  | 'read'
  | 'tmp'
  | 'network'
  | 'unixSockets'
  | 'processes'
  | 'socketFamilies'
  | 'privileges'
  | 'settings'
  | 'caches'
  | 'undo';

/**
 * The means of a protection; `none`: not enforced, because it was not requested or not possible.
 * `mount`, for hidden paths: each file and directory is hidden as it was when the sandbox was made; one
 * that the host puts in its place while a command runs is visible. `gate` and `mount`, for settings: changes of
 * git's are judged, and held back where they are not harmless; or kept settings are read-only. For caches:
 * `mount`, commands have empty ones of their own in place of the user's; `overlay`, a layer on disk over the
 * user's caches; `memory`, one in memory, which is lost with the sandbox. For undo: `journal`, what was there before
 * is written down.
 */
export type Enforcement =
  | 'namespace'
  | 'mount'
  | 'gate'
  | 'landlock'
  | 'seccomp'
  | 'proxy'
  | 'overlay'
  | 'memory'
  | 'journal'
  | 'none';

/** The report on a command's sandbox. */
export interface SandboxReport {
  /** The means of each protection. */
  readonly enforced: Readonly<Record<SandboxLine, Enforcement>>;
  /** The writable paths, besides temporary directories. */
  readonly writable: readonly string[];
  /**
   * The denials that are known for certain. An empty list proves nothing: programs need not report
   * errors.
   */
  readonly denials: readonly Denial[];
  /** What the user's agents have signed for the command; absent: nothing. */
  readonly signatures?: readonly Signature[];
  /** Reasons why denials may have been missed, one line each; absent: there is no such reason. */
  readonly unseen?: readonly string[];
  /**
   * Files that git should have replaced when it moved HEAD or the index, and could not, since the sandbox
   * protects them; absent: none, as far as could be seen.
   */
  readonly incomplete?: readonly IncompleteCheckout[];
  /** The changes that were held back, and are not in effect; absent: none. */
  readonly held?: readonly HeldChange[];
  /**
   * How many files it has changed; present when the policy has `undo`, which is in force, and of at most 20 what
   * can't be taken back. The list is in `result.changes`.
   */
  readonly changes?: ChangeCounts & { readonly moreUnrevertable?: number };
  /**
   * The ports on which its processes listen now, of those that the policy publishes; absent: there are none.
   */
  readonly ports?: readonly SandboxPort[];
  /**
   * Present when this is another sandbox than that of the earlier commands with this policy in this
   * workspace: the contents of its `/tmp` are gone, and processes in the other sandbox cannot be reached.
   * Reported to one command only.
   */
  readonly renewed?: true;
}

/** The engine's report on a sandbox: held changes are looked up before a caller gets it. */
export interface EngineReport extends SandboxReport {
  /** The ids of the changes that were held back; absent: none, or they are in `held`. */
  readonly heldIds?: readonly string[];
  /** The id of the journal with its changes; absent: it has made none, or they are in `changes`. */
  readonly undoId?: string;
  /** The programs that it has executed or was denied; absent: none is known. They go into the result itself. */
  readonly executed?: readonly ExecutedProgram[];
  /** The number of programs that are not in `executed`; absent: none. */
  readonly moreExecuted?: number;
}

/** A change of a file that a sandbox has held back: plain data. */
export interface HeldChange {
  /** The id by which `forkline held` finds it. */
  readonly id: string;
  /** Absolute path of the file, which is as it was. */
  readonly path: string;
  /**
   * The reason: a program outside would obey it (`setting`); the content is not in the history that the
   * repository had before (`unknown-content`); or the file would be gone (`removal`).
   */
  readonly reason: 'setting' | 'unknown-content' | 'removal';
  /** The keys of a configuration that would change, and are not harmless, such as `core.fsmonitor`. */
  readonly keys?: readonly string[];
  /** The time at which it was held back, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * A change that a sandbox has held back: it is not in effect, and lies in the user's state directory until
 * it is accepted or dropped, also when the host has ended. When there are more than 1,000, or 64 MiB of them, the
 * oldest go of the workspace that has the most.
 */
export interface Held extends HeldChange {
  /** The change as a unified diff, of at most 64 KiB; where there is none, a line in brackets says why. */
  readonly diff: string;
  /**
   * Puts the change in place, with the rights of this process, and removes it from those that are held.
   * A file that has changed meanwhile keeps what has changed: of git's configurations git sets the keys, of other
   * texts the lines that the diff shows are changed. `conflict`: that can't be done, or the directory has become
   * another one; nothing was changed, and the change stays held.
   *
   * @throws {Error} The change is no longer held, or lies on another machine; its name is not UTF-8; or the
   * system's error.
   */
  accept(): Promise<'put' | 'conflict'>;
  /**
   * Removes the change; does nothing if it is no longer held.
   *
   * @throws {Error} The change lies on another machine; or the system's error.
   */
  drop(): Promise<void>;
}

/** What is known of a held change, without the means to accept it. */
export type HeldFacts = Omit<Held, 'accept' | 'drop'>;

/** What nearly all commands have held back. */
export const NOTHING_HELD: readonly Held[] = Object.freeze([]);

/** A signature by an agent of the user, which a command in a sandbox has asked for. */
export interface Signature {
  /** The user's ssh or gpg agent. */
  readonly agent: 'ssh' | 'gpg';
  /** The key's fingerprint (`SHA256:…`), or of gpg its keygrip. */
  readonly key: string;
  /** The key's comment, as the ssh agent has it; may be empty. */
  readonly comment: string;
  /**
   * `login`: at a server, by ssh. `git`: a message for git, which is a commit or a tag. `hash`: gpg's agent
   * signs a hash, and is not told of what.
   */
  readonly purpose: 'login' | 'git' | 'hash';
  /**
   * Of a login the user and the server, `git@example.com`: by its names in `known_hosts`, by the fingerprint of
   * its key where those are hashed, or `?` where the agent does not know it; of a hash its hex digits; else empty.
   */
  readonly target: string;
  /** The time in milliseconds since 1970. */
  readonly at: number;
}

/** A protected name that git tracks, and whose content differs from that of the checked-out commit. */
export interface IncompleteCheckout {
  /** The protected name, relative to the working tree: `.npmrc`, `.vscode`. */
  readonly path: string;
  /** The top directory of the working tree. */
  readonly repository: string;
  /** The checked-out branch, or the commit where there is none. */
  readonly head: string;
  /** Its files that differ from those of `head`; they may be missing. */
  readonly changed: readonly string[];
  /** Its files that differ from those of the index, in the middle of a merge for instance. */
  readonly staged: readonly string[];
  /** Its files that exist, although `head` has none. */
  readonly leftover: readonly string[];
  /** Commits by the command that have recorded the old content. */
  readonly recorded: readonly RecordedLeftover[];
}

/** A commit that has recorded the old content of an incomplete checkout. */
export interface RecordedLeftover {
  /** The commit's id. */
  readonly commit: string;
  /** Whether it is the checked-out commit. */
  readonly isHead: boolean;
  /** Files whose content differs in the commit before. */
  readonly changed: readonly string[];
  /** Files that the commit before does not have. */
  readonly added: readonly string[];
}

/** An access that a sandbox has denied a command. */
export interface Denial {
  /**
   * Writing to or reading a path, connecting to a host or to another process's socket by its path,
   * creating a socket of a forbidden family, a request to an agent of the user, or executing a program.
   */
  readonly kind: 'write' | 'read' | 'connect' | 'socket' | 'sign' | 'exec';
  /**
   * A path, a host, an address with its port, a family of sockets, what an agent was asked for, or a program's
   * name with its arguments (`git push origin`).
   */
  readonly target: string;
  /**
   * The policy's field that forbids it; `socketFamilies`: the protection of that name, which every policy
   * has.
   */
  readonly rule:
    | 'allowWrite'
    | 'denyWrite'
    | 'denyRead'
    | 'tmp'
    | 'network'
    | 'allowedDomains'
    | 'deniedDomains'
    | 'secrets'
    | 'allowUnixSockets'
    | 'sshAgent'
    | 'gpgAgent'
    | 'exec'
    | 'socketFamilies';
  /**
   * The source of the report: the kernel; or the command's output, where the target stands beside an
   * error of the system, the policy forbids exactly that, and the host itself could do it; or the proxy,
   * for all commands that ran in the sandbox meanwhile; or the broker between the command and an agent.
   */
  readonly source: 'kernel' | 'output' | 'proxy' | 'broker';
  /** Why a program was not executed; absent: something else was denied. */
  readonly why?: ExecReason;
  /** The program that was to execute it, where that is no shell: `make`; absent: none is known. */
  readonly by?: string;
  /** What the rule says for a model; absent: nothing. */
  readonly say?: string;
}

/**
 * A port on which a command listens in its sandbox, whose policy publishes it: by `url` it is reached from
 * the machine that the sandbox is on.
 */
export type SandboxPort =
  | {
      /** The number of the port inside. */
      readonly inside: number;
      /**
       * The way to it from outside: `http://127.0.0.1:3000`, whatever is spoken there. The port is that inside, or
       * the next free one.
       */
      readonly url: string;
      /** The process that listens, as it was when it began: `pid 4711 node`. */
      readonly by: string;
    }
  | {
      /** The number of the port inside. */
      readonly inside: number;
      /** Absent: it is not published. */
      readonly url?: undefined;
      /** The process that listens. */
      readonly by: string;
      /**
       * Why it is not published: `dangerous`, whoever connects could run programs (`dangerous: true` allows it);
       * `full`, 64 ports are published; `failed`, the host had no port or no descriptors left.
       */
      readonly refused: 'dangerous' | 'full' | 'failed';
    };

/** Reads a port as the keeper tells of it: `INSIDE,HOST,PID,NAME,SERIAL`, with a reason in place of `HOST` if there is none. */
export function toSandboxPort(told: string): SandboxPort | undefined {
  const [inside, host = '', pid, name] = told.split(',');
  const port = { inside: Number(inside), by: `pid ${pid} ${name}` };
  if (host === 'dangerous' || host === 'full' || host === 'failed') {
    return { ...port, refused: host };
  }
  return /^\d+$/.test(host) ? { ...port, url: `http://127.0.0.1:${host}` } : undefined;
}
