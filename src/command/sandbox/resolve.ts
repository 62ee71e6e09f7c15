import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { SERVER } from '../../engine/channel.js';
import type { EngineSandbox } from '../../engine/message.js';
import { InputError } from '../../support/errors.js';
import { HIDDEN_IN_HOME, HIDDEN_IN_SYSTEM, KEPT_SETTINGS } from './defaults.js';
import { gitDirectories } from './git.js';
import { isAmong } from './paths.js';
import { pipesOf } from './pipes.js';
import type { SandboxPolicy } from './policy.js';
import { type KeptSecrets, keptSecrets } from './secrets/kept.js';
import { serveSandboxes } from './served.js';

/** So long what was found on the disk is taken to be there still: calls come in bursts. */
const FRESH_MS = 250;
const MOST_KEPT = 32;
/** Of a loopback that nobody else has. */
const PROXY_PORT = 3128;
const PRIVATE = ['/tmp', '/var/tmp', '/run', '/dev/shm'];

/** A sandbox, and what is kept from its commands. */
export interface ResolvedSandbox extends EngineSandbox {
  readonly secrets: KeptSecrets | undefined;
}

const recent = new WeakMap<SandboxPolicy, Map<string, { at: number; resolved: ResolvedSandbox }>>();

/**
 * What a policy comes to in a directory. Policies are compared by identity.
 *
 * @throws {InputError} The directory is the whole file system.
 */
export function resolveSandbox(policy: SandboxPolicy, cwd: string): ResolvedSandbox {
  const known = recent.get(policy) ?? new Map<string, { at: number; resolved: ResolvedSandbox }>();
  recent.set(policy, known);
  const now = performance.now();
  const last = known.get(cwd);
  if (last !== undefined && now - last.at < FRESH_MS) return last.resolved;
  const resolved = resolveNow(policy, cwd);
  if (known.size >= MOST_KEPT) known.clear();
  known.set(cwd, { at: now, resolved });
  return resolved;
}

function resolveNow(policy: SandboxPolicy, cwd: string): ResolvedSandbox {
  const { filesystem = {}, allowUnixSockets = [] } = policy;
  const home = homedir();
  const absolute = (path: string) =>
    path === '~' || path.startsWith('~/') ? join(home, path.slice(2)) : resolve(cwd, path);
  const all = (paths: readonly string[]) => paths.map(absolute);
  const isWorkspace = (policy.mode ?? 'workspace-write') === 'workspace-write';
  const workspace = absolute(policy.workspace ?? cwd);
  if (isWorkspace && workspace === '/') {
    throw new InputError(
      "sandbox: expected a workspace other than '/', which has everything in it",
    );
  }
  const git = isWorkspace ? gitDirectories(workspace) : { writable: [], kept: [] };
  const ownTmp = filesystem.tmp !== 'shared';
  const roots = [
    ...(isWorkspace ? [workspace, ...git.writable] : []),
    ...(ownTmp ? [] : ['/tmp', '/var/tmp', '/dev/shm']),
  ];
  const writable = withAllowed(roots, all(filesystem.allowWrite ?? []));
  const denied = filesystem.denyWrite ?? KEPT_SETTINGS;
  const kept = [
    ...writable.flatMap((root) =>
      denied.map((path) => (isLoose(path) ? join(root, path) : absolute(path))),
    ),
    ...(filesystem.denyWrite === undefined ? git.kept : []),
  ];
  const hidden = filesystem.denyRead
    ? all(filesystem.denyRead)
    : [...HIDDEN_IN_HOME.map((path) => join(home, path)), ...HIDDEN_IN_SYSTEM];
  // What can be written to is seen anyhow, and the stricter rule for the same path would count.
  const unseen = [cwd, workspace].filter((place) => !isAmong(place, writable));
  const secrets = policy.secrets && keptSecrets(policy.secrets);
  const trusted = secrets === undefined ? [] : [secrets.directory];
  const shown = [...placesAmong(PRIVATE, unseen), ...all(filesystem.allowRead ?? []), ...trusted];
  return planned(policy, {
    secrets,
    writable: existing(writable),
    kept: existing([...kept, ...trusted]),
    hidden: existing(hidden),
    shown: existing(shown),
    sockets: existing(all(allowUnixSockets)),
    ownTmp,
    network: policy.network === 'full',
    proxyPort: typeof policy.network === 'object' || secrets !== undefined ? PROXY_PORT : undefined,
  });
}

/** Only those that exist: one that comes later makes another plan, and so another sandbox. */
function existing(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].filter((path) => existsSync(path));
}

/**
 * Whoever starts the proxy reads its rules there. Each JavaScript environment has its own, and so its own
 * sandboxes: secrets are known to nobody else, and a proxy ends with its environment.
 */
function proxyEntries({ network, secrets = {} }: SandboxPolicy): readonly string[] {
  const { allowedDomains, deniedDomains = [] } =
    typeof network === 'object' ? network : { allowedDomains: [] };
  const theirs = Object.values(secrets).flatMap(({ domains }) => domains);
  return [
    `proxy\0${PROXY_PORT}\0`,
    `server\0${SERVER}\0`,
    ...[...allowedDomains, ...theirs].map((domain) => `domain\0${domain}\0`),
    ...deniedDomains.map((domain) => `no-domain\0${domain}\0`),
  ];
}

function planned(policy: SandboxPolicy, sandbox: Omit<ResolvedSandbox, 'plan'>): ResolvedSandbox {
  const entries = (word: string, paths: readonly string[]): string =>
    paths.map((path) => `${word}\0${path}\0`).join('');
  const pipes = existing(pipesOf(policy).filter((path) => !isAmong(path, sandbox.writable)));
  const plan = [
    `require\0${policy.require ?? 'all'}\0`,
    sandbox.network ? 'network\0full\0' : '',
    policy.processes === 'host' ? 'processes\0host\0' : '',
    ...(sandbox.proxyPort === undefined ? [] : proxyEntries(policy)),
    sandbox.ownTmp ? '' : 'tmp\0shared\0',
    entries('write', [...sandbox.writable, ...pipes]),
    entries('keep', sandbox.kept),
    entries('hide', sandbox.hidden),
    entries('show', sandbox.shown),
    entries('socket', sandbox.sockets),
  ].join('');
  if (sandbox.proxyPort !== undefined) serveSandboxes(plan, sandbox.secrets);
  return { ...sandbox, plan };
}

/** Where it is is to be seen also when that is among others' temporary files. */
function placesAmong(directories: readonly string[], places: readonly string[]): readonly string[] {
  return places.filter((place) => isAmong(place, directories));
}

/** Relative to each writable directory. */
function isLoose(path: string): boolean {
  return !path.startsWith('/') && path !== '~' && !path.startsWith('~/');
}

/**
 * With what else may be written to. A path in a directory that commands write to may be a link that one
 * of them has made: it opens nothing elsewhere.
 */
function withAllowed(roots: readonly string[], allowed: readonly string[]): string[] {
  return [
    ...roots,
    ...allowed.filter((path) => !isAmong(path, roots) || isAmong(realOf(path) ?? '/', roots)),
  ];
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
