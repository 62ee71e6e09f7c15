import { needsNativeEngine } from '../engine/choice.js';
import { isMissing, type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { checkSecrets, type SandboxSecret } from './secrets/secret.js';

/** A sandbox by its name; `danger-full-access` is none. */
export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access';

/** What a command may read and write. Paths are absolute, relative to `cwd`, or begin with `~/`. */
export interface SandboxFilesystem {
  /**
   * What can be written to, besides the workspace with its git directory (unless the mode is `read-only`) and
   * temporary directories of its own.
   */
  readonly allowWrite?: readonly string[] | undefined;
  /**
   * What can't, although it lies in what can. Default: in each writable directory git's hooks and
   * configuration, and settings of editors and agents.
   */
  readonly denyWrite?: readonly string[] | undefined;
  /** What can't be read. Default: keys, tokens and histories in the home directory; `[]`: nothing. */
  readonly denyRead?: readonly string[] | undefined;
  /** What can be read all the same. Of two paths, the longer decides. */
  readonly allowRead?: readonly string[] | undefined;
  /** Whether `/tmp`, `/var/tmp`, `/run` and `/dev/shm` are its own, or the host's. Default: 'private'. */
  readonly tmp?: 'private' | 'shared' | undefined;
}

/** Hosts by their names: `example.com`, `*.example.com` for what is below it, or an address. */
export interface SandboxDomains {
  /** What commands may connect to, through the proxy; `[]`: nothing. */
  readonly allowedDomains: readonly string[];
  /** Of those, not these. */
  readonly deniedDomains?: readonly string[] | undefined;
}

/** What a sandbox is to keep commands from. */
export interface SandboxPolicy {
  /** Default: 'workspace-write'. */
  readonly mode?: 'read-only' | 'workspace-write' | undefined;
  /**
   * The directory that can be written to with 'workspace-write'. Default: `cwd`, for a tool the one that
   * it was made with, wherever its commands go.
   */
  readonly workspace?: string | undefined;
  /** What of the file system can be written to and read. Default: what the mode says. */
  readonly filesystem?: SandboxFilesystem | undefined;
  /**
   * A loopback of its own, the host's network, or of that some hosts by their names, which a proxy in the
   * host connects to. Default: 'none'.
   */
  readonly network?: 'none' | 'full' | SandboxDomains | undefined;
  /** Sockets of others, by path, that commands may connect to. Default: none. */
  readonly allowUnixSockets?: readonly string[] | undefined;
  /** Whether commands see, and can signal, only the processes in the sandbox. Default: 'own'. */
  readonly processes?: 'own' | 'host' | undefined;
  /**
   * By the name of a variable: commands get a stand-in for it, which the proxy replaces by the value on
   * its way to these domains, over TLS. Not with `network: 'full'` or 'none'. Default: none.
   */
  readonly secrets?: Readonly<Record<string, SandboxSecret>> | undefined;
  /**
   * `all`: every line, or no command is run. `landlock`: only what can be had without namespaces, as
   * in a container that forbids them; `result.sandbox` says what is not kept out. `best-effort`: the
   * most that can be had. Default: 'all'.
   */
  readonly require?: 'all' | 'landlock' | 'best-effort' | undefined;
}

/** A sandbox for a command. */
export type SandboxOption = SandboxMode | SandboxPolicy;

const POLICY_NAMES: OptionNames<SandboxPolicy> = {
  mode: true,
  workspace: true,
  filesystem: true,
  network: true,
  allowUnixSockets: true,
  processes: true,
  secrets: true,
  require: true,
};
const FILESYSTEM_NAMES: OptionNames<SandboxFilesystem> = {
  allowWrite: true,
  denyWrite: true,
  denyRead: true,
  allowRead: true,
  tmp: true,
};
const DOMAIN_NAMES: OptionNames<SandboxDomains> = { allowedDomains: true, deniedDomains: true };
// Policies are known by identity.
const READ_ONLY: SandboxPolicy = { mode: 'read-only' };
const WORKSPACE_WRITE: SandboxPolicy = { mode: 'workspace-write' };
const PATH_LISTS = ['allowWrite', 'denyWrite', 'denyRead', 'allowRead'] as const;

/**
 * The policy of a tool that is made with this directory: what the tool is given later changes nothing.
 *
 * @param workspace Undefined: the directory of each call.
 * @throws {InputError} As {@link readSandbox}.
 */
export function toolSandbox(
  given: unknown,
  workspace: string | undefined,
): SandboxPolicy | undefined {
  const policy = readSandbox(given);
  return policy && { ...structuredClone(policy), workspace: policy.workspace ?? workspace };
}

/**
 * The policy that is asked for; undefined: no sandbox.
 *
 * @throws {InputError} It is none: names the field, what is expected and what was given.
 */
export function readSandbox(given: unknown): SandboxPolicy | undefined {
  if (isMissing(given) || given === 'danger-full-access') return undefined;
  needsNativeEngine('sandbox', given, "'danger-full-access' or nothing");
  if (given === 'read-only') return READ_ONLY;
  if (given === 'workspace-write') return WORKSPACE_WRITE;
  if (typeof given !== 'object') {
    const got = showValue(given);
    throw new InputError(
      `sandbox: expected 'read-only', 'workspace-write', 'danger-full-access' or a policy, got ${got}`,
    );
  }
  const policy = readOptions<SandboxPolicy>('sandbox', given, POLICY_NAMES, { within: 'sandbox.' });
  checkWord('mode', policy.mode, ['read-only', 'workspace-write']);
  checkNetwork(policy.network);
  checkWord('processes', policy.processes, ['own', 'host']);
  checkWord('require', policy.require, ['all', 'landlock', 'best-effort']);
  if (policy.secrets !== undefined) {
    checkSecrets(policy.secrets, checkDomains);
    if (typeof policy.network === 'string') {
      const instead = 'some hosts, or nothing, beside secrets: they are put in by a proxy';
      throw new InputError(`sandbox.network: expected ${instead}, got '${policy.network}'`);
    }
  }
  checkPaths('workspace', policy.workspace === undefined ? undefined : [policy.workspace]);
  checkPaths('allowUnixSockets', policy.allowUnixSockets);
  if (policy.filesystem === undefined) return policy;
  const within = 'sandbox.filesystem.';
  const files = readOptions<SandboxFilesystem>(
    'sandbox.filesystem',
    policy.filesystem,
    FILESYSTEM_NAMES,
    { within },
  );
  for (const name of PATH_LISTS) checkPaths(`filesystem.${name}`, files[name]);
  checkWord('filesystem.tmp', files.tmp, ['private', 'shared']);
  return policy;
}

const DOMAIN = /^(?:\*\.)?[a-z\d](?:[\w.-]*[a-z\d])?$|^[\d.]+$|^[\da-f:]+$/i;

function checkNetwork(network: SandboxPolicy['network'] | null): void {
  if (typeof network !== 'object' || network === null) {
    checkWord('network', network, ['none', 'full']);
    return;
  }
  const within = 'sandbox.network.';
  const domains = readOptions('sandbox.network', network, DOMAIN_NAMES, { within });
  checkDomains('network.allowedDomains', domains.allowedDomains);
  checkDomains('network.deniedDomains', domains.deniedDomains ?? []);
}

function checkDomains(name: string, given: unknown): void {
  const isList = Array.isArray(given);
  const wrong: unknown = isList ? given.find((one) => !DOMAIN.test(String(one))) : given;
  if (isList && wrong === undefined) return;
  const expected = 'an array of names such as example.com or *.example.com';
  throw new InputError(`sandbox.${name}: expected ${expected}, got ${showValue(wrong)}`);
}

function checkWord(name: string, value: unknown, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value as string)) return;
  const expected = allowed.map((one) => `'${one}'`).join(' or ');
  throw new InputError(`sandbox.${name}: expected ${expected}, got ${showValue(value)}`);
}

function checkPaths(name: string, value: unknown): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) {
    throw new InputError(`sandbox.${name}: expected an array of paths, got ${showValue(value)}`);
  }
  for (const path of value) {
    const isPath = typeof path === 'string' && path !== '' && !path.includes('\0');
    if (isPath && path.isWellFormed()) continue;
    throw new InputError(`sandbox.${name}: expected paths, got ${showValue(path)}`);
  }
}
