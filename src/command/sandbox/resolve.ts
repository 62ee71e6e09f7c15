import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { InputError } from '../../support/errors.js';
import { HIDDEN_IN_HOME, HIDDEN_IN_SYSTEM, KEPT_SETTINGS } from './defaults.js';
import { gitDirectories } from './git.js';
import type { SandboxPolicy } from './policy.js';

/** A sandbox with nothing left to decide. */
export interface ResolvedSandbox {
  /** As native/keeper/src/sandbox/plan.rs reads it. */
  readonly plan: string;
  /** Directories, and files, that can be written to. */
  readonly writable: readonly string[];
  /** Whether temporary directories are its own. */
  readonly ownTmp: boolean;
  /** Sockets of others that it may connect to. */
  readonly sockets: readonly string[];
}

/** So long what was found on the disk is taken to be there still: calls come in bursts. */
const FRESH_MS = 250;
const MOST_KEPT = 32;
const PRIVATE = ['/tmp', '/var/tmp', '/run', '/dev/shm'];

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
  const sockets = all(allowUnixSockets);
  const plan = [
    `require\0${policy.require ?? 'all'}\0`,
    policy.network === 'full' ? 'network\0full\0' : '',
    policy.processes === 'host' ? 'processes\0host\0' : '',
    ownTmp ? '' : 'tmp\0shared\0',
    entries('write', writable),
    entries('keep', kept),
    entries('hide', hidden),
    entries('show', [
      ...placesAmong(PRIVATE, [cwd, workspace]),
      ...all(filesystem.allowRead ?? []),
    ]),
    entries('socket', sockets),
  ];
  return { plan: plan.join(''), writable, ownTmp, sockets };
}

/** Where it is is to be seen also when that is among others' temporary files. */
function placesAmong(directories: readonly string[], places: readonly string[]): readonly string[] {
  return places.filter((place) => directories.some((path) => place.startsWith(`${path}/`)));
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
  const isWithin = (path: string) =>
    roots.some((root) => path === root || path.startsWith(`${root}/`));
  return [...roots, ...allowed.filter((path) => !isWithin(path) || isWithin(realOf(path) ?? '/'))];
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Only those that exist: one that comes later makes another plan, and so another sandbox. */
function entries(word: string, paths: readonly string[]): string {
  const found = [...new Set(paths)].filter((path) => existsSync(path));
  return found.map((path) => `${word}\0${path}\0`).join('');
}
