import { needsNativeEngine } from '../engine/choice.js';
import { checkObject, isMissing, type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { checkAgents } from './keys/agent-policy.js';
import { checkChangesOf } from './pending/check-changes.js';
import type { SandboxFilesystem, SandboxPolicy } from './policy.js';
import {
  checkCaches,
  checkDomains,
  checkExecOf,
  checkNetwork,
  checkPaths,
  checkPortsOf,
  checkSettings,
  checkWord,
} from './policy-checks.js';
import { checkSecrets } from './secrets/secret.js';
import { checkUndoOf } from './undo/check-undo.js';

const POLICY_NAMES: OptionNames<SandboxPolicy> = {
  mode: true,
  workspace: true,
  filesystem: true,
  network: true,
  allowUnixSockets: true,
  ports: true,
  sshAgent: true,
  gpgAgent: true,
  processes: true,
  exec: true,
  secrets: true,
  settings: true,
  caches: true,
  undo: true,
  changes: true,
  require: true,
};
const FILESYSTEM_NAMES: OptionNames<SandboxFilesystem> = {
  allowWrite: true,
  denyWrite: true,
  denyRead: true,
  allowRead: true,
  tmp: true,
};
// Constant objects, since policies are compared by identity.
const READ_ONLY: SandboxPolicy = { mode: 'read-only' };
const WORKSPACE_WRITE: SandboxPolicy = { mode: 'workspace-write' };
const PATH_LISTS = ['allowWrite', 'denyWrite', 'denyRead', 'allowRead'] as const;

/**
 * Returns the policy of a tool that is created with this directory, as a copy, so that later changes of
 * the option have no effect.
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
 * Returns the requested policy; undefined: no sandbox.
 *
 * @throws {InputError} The policy is not valid: the message names the field, what is expected and what
 * was given.
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
  checkObject('sandbox', given);
  const policy = readOptions<SandboxPolicy>('sandbox', withoutNulls(given), POLICY_NAMES, {
    within: 'sandbox.',
  });
  checkWord('mode', policy.mode, ['read-only', 'workspace-write', 'danger-full-access']);
  checkNetwork(policy.network);
  checkWord('processes', policy.processes, ['own', 'host']);
  checkWord('require', policy.require, ['all', 'landlock', 'best-effort']);
  checkCaches(policy);
  checkSettings(policy);
  checkUndoOf(policy);
  checkChangesOf(policy);
  if (policy.secrets !== undefined) {
    checkSecrets(policy.secrets, checkDomains);
    if (typeof policy.network === 'string') {
      const instead = '{ allowedDomains } or nothing with secrets, which a proxy puts in';
      throw new InputError(`sandbox.network: expected ${instead}, got '${policy.network}'`);
    }
  }
  if (policy.ports !== undefined) checkPortsOf(policy, policy.ports);
  if (policy.exec !== undefined) checkExecOf(policy, policy.exec);
  checkPaths('workspace', policy.workspace === undefined ? undefined : [policy.workspace]);
  checkPaths('allowUnixSockets', policy.allowUnixSockets);
  checkAgents(policy);
  if (policy.filesystem === undefined) return withFields(policy);
  const within = 'sandbox.filesystem.';
  const files = readOptions<SandboxFilesystem>(
    'sandbox.filesystem',
    policy.filesystem,
    FILESYSTEM_NAMES,
    { within },
  );
  for (const name of PATH_LISTS) checkPaths(`filesystem.${name}`, files[name]);
  checkWord('filesystem.tmp', files.tmp, ['private', 'shared']);
  return withFields(policy);
}

/** How deep the fields of a policy lie: `secrets`, a name, `domains`. */
const DEEPEST = 3;

/** Policies with fields that are `null`, and the same without. Policies are compared by identity. */
const cleared = new WeakMap<object, object>();

/** Returns a policy without fields that are `null` at any depth, which count as left out. */
function withoutNulls(policy: object): object {
  if (!hasNull(policy, DEEPEST)) return policy;
  const made = cleared.get(policy) ?? copyOf(policy, DEEPEST);
  cleared.set(policy, made);
  return made;
}

function hasNull(given: object, depth: number): boolean {
  for (const name in given) {
    const value: unknown = Reflect.get(given, name);
    if (value === null || (hasFields(value, depth) && hasNull(value, depth - 1))) return true;
  }
  return false;
}

/** Copies fields, inherited ones included, as {@link readOptions} reads them. */
function copyOf(given: object, depth: number): object {
  const copy: Record<string, unknown> = {};
  for (const name in given) {
    const value: unknown = Reflect.get(given, name);
    if (value !== null) copy[name] = hasFields(value, depth) ? copyOf(value, depth - 1) : value;
  }
  return copy;
}

function hasFields(value: unknown, depth: number): value is object {
  return depth > 1 && typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a policy of the mode `danger-full-access` says of files, unless its own fields do. */
const OPEN_FILES: SandboxFilesystem = {
  allowWrite: ['/'],
  denyWrite: [],
  denyRead: [],
  tmp: 'shared',
};

/** The same policies as fields. Policies are compared by identity. */
const opened = new WeakMap<SandboxPolicy, SandboxPolicy>();

/** Expresses the mode `danger-full-access` by other fields. */
function withFields(policy: SandboxPolicy): SandboxPolicy {
  if (policy.mode !== 'danger-full-access') return policy;
  const made = opened.get(policy) ?? {
    ...policy,
    mode: 'read-only',
    filesystem: { ...OPEN_FILES, ...policy.filesystem },
    // With secrets, the hosts that they are for are the only ones.
    network: policy.network ?? (policy.secrets === undefined ? 'full' : undefined),
  };
  opened.set(policy, made);
  return made;
}
