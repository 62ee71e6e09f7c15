import type { SandboxExec } from './exec/exec-policy.js';
import type { SandboxGpgAgent, SandboxSshAgent } from './keys/agent-policy.js';
import type { SandboxPorts } from './ports/ports.js';
import type { SandboxSecret } from './secrets/secret.js';
import type { SandboxUndo } from './undo/undo-policy.js';

/** The name of a sandbox; `danger-full-access` means no sandbox. */
export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access';

/** The paths that a command may read and write. Paths are absolute, relative to `cwd`, or begin with `~/`. */
export interface SandboxFilesystem {
  /**
   * Writable paths, besides the workspace with its git directory (unless the mode is `read-only`) and
   * private temporary directories.
   */
  readonly allowWrite?: readonly string[] | undefined;
  /**
   * Exceptions from the writable paths. Default: in each writable directory git's hooks and
   * configuration, and settings of editors and agents.
   */
  readonly denyWrite?: readonly string[] | undefined;
  /** Paths that can't be read. Default: keys, tokens and histories in the home directory; `[]`: none. */
  readonly denyRead?: readonly string[] | undefined;
  /** Exceptions from `denyRead`. Of two paths, the longer decides. */
  readonly allowRead?: readonly string[] | undefined;
  /**
   * Whether `/tmp`, `/var/tmp`, `/run` and `/dev/shm` are the sandbox's own, or the host's. Default:
   * 'private'.
   */
  readonly tmp?: 'private' | 'shared' | undefined;
}

/** Hosts by name: `example.com`, `*.example.com` for its subdomains, or an address. */
export interface SandboxDomains {
  /** Hosts that commands may connect to, through the proxy; `[]`: none. */
  readonly allowedDomains: readonly string[];
  /** Exceptions from `allowedDomains`. */
  readonly deniedDomains?: readonly string[] | undefined;
}

/** Private caches with a bound of their own. */
export interface SandboxCacheBound {
  /** The most bytes that stay in the layers of a workspace. */
  readonly maxBytes: number;
}

/** The rules of a sandbox for commands. */
export interface SandboxPolicy {
  /**
   * The mode. `danger-full-access` in a policy: files and network are the host's, except for what other fields
   * say; so the policy may be about `processes` alone. Default: 'workspace-write'.
   */
  readonly mode?: SandboxMode | undefined;
  /**
   * The directory that is writable with 'workspace-write'. Default: `cwd`; for a tool the directory it
   * was created with, whatever directory its commands use.
   */
  readonly workspace?: string | undefined;
  /** Writable and readable paths. Default: those of the mode. */
  readonly filesystem?: SandboxFilesystem | undefined;
  /**
   * A loopback of its own, the host's network, or some of its hosts by name, which a proxy in the host
   * connects to. Default: 'none'.
   */
  readonly network?: 'none' | 'full' | SandboxDomains | undefined;
  /** Paths of other processes' Unix sockets that commands may connect to. Default: none. */
  readonly allowUnixSockets?: readonly string[] | undefined;
  /**
   * TCP ports of the host's loopback that commands reach, and ports of theirs that are reached from there.
   * Not with `network: 'full'`, whose ports are the host's. Default: none.
   */
  readonly ports?: SandboxPorts | undefined;
  /**
   * Whether commands may have the user's ssh agent sign logins at servers that the user knows, and git's
   * commits and tags. The keys stay with the agent, and each signature is in `result.sandbox.signatures`.
   * Default: false.
   */
  readonly sshAgent?: boolean | SandboxSshAgent | undefined;
  /**
   * Whether commands may have the user's gpg agent sign. The keys stay with the agent, and each signature is
   * in `result.sandbox.signatures`. Default: false.
   */
  readonly gpgAgent?: boolean | SandboxGpgAgent | undefined;
  /** Whether commands see, and can signal, only the processes in the sandbox. Default: 'own'. */
  readonly processes?: 'own' | 'host' | undefined;
  /**
   * Decisions on the programs that commands execute, whatever text has led to them, and a record of these. It
   * doesn't see what a program does by itself, such as builtins of a shell. Not with `require: 'landlock'`.
   * Default: none is judged.
   */
  readonly exec?: SandboxExec | undefined;
  /**
   * Secrets, by the name of a variable: commands get a stand-in, which the proxy replaces by the value on
   * its way to the secret's domains, over TLS. Not with `network: 'full'` or 'none'. Default: none.
   */
  readonly secrets?: Readonly<Record<string, SandboxSecret>> | undefined;
  /**
   * What becomes of changes of what git obeys in its directories, and of tracked settings of editors and agents.
   * `judge`: a change of harmless keys alone, or to what the user's history has, goes in, and any other is held
   * back, see `result.heldBack`; `read-only`: none is possible. Where
   * `filesystem.denyWrite` is given, what it names is read-only, and nothing is judged. Default: 'judge', where that
   * is possible; `result.sandbox.enforced.settings` says what is.
   */
  readonly settings?: 'judge' | 'read-only' | undefined;
  /**
   * The caches of the user's tools (npm, pip, cargo, …). `private`: commands read them, and write to a layer
   * of their workspace over them, which stays for its later commands; it is bounded when none of them runs,
   * by default to 2 GiB. `none`: commands read them, and npm's and those of `XDG_CACHE_HOME` are empty and
   * their own. Default: 'private' with the mode 'workspace-write' and `require: 'all'`; otherwise 'none'.
   */
  readonly caches?: 'private' | 'none' | SandboxCacheBound | undefined;
  /**
   * Whether what commands change can be taken back, by `result.changes.revert()`: before a file or a name is
   * changed, what was there is written down. Not with `require: 'landlock'`. Default: false.
   */
  readonly undo?: boolean | SandboxUndo | undefined;
  /**
   * What becomes of what commands change in files. `apply`: it is in effect at once. `hold`: commands see it, and
   * nobody else, until `result.changes.accept()`; `discard`: it is never in effect, and `result.changes` tells
   * what it would have been. All commands with one policy object see the same. By an overlay over each writable
   * directory; settings are not judged, and not accepted by default. Not with `undo`, the modes
   * `danger-full-access` and `read-only`, or `require: 'landlock'`. Default: 'apply'.
   */
  readonly changes?: 'apply' | 'hold' | 'discard' | undefined;
  /**
   * `all`: every protection is enforced, or no command is run. `landlock`: only protections that work without
   * namespaces, as in a container that forbids them; `result.sandbox` says which are not enforced.
   * `best-effort`: as many as possible. Default: 'all'.
   */
  readonly require?: 'all' | 'landlock' | 'best-effort' | undefined;
}

/** A sandbox for a command. */
export type SandboxOption = SandboxMode | SandboxPolicy;
