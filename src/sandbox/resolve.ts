import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { ownPlaces } from '../engine/addon/places.js';
import type { EngineSandbox } from '../engine/message.js';
import { expandHome, homeDirectory } from '../support/directories/home.js';
import { userDirectory } from '../support/directories/private-directory.js';
import { claimStateDirectory, statePath } from '../support/directories/state-directory.js';
import { InputError } from '../support/errors.js';
import { cachesOf, type SandboxCaches } from './caches/caches.js';
import { noteLayers } from './caches/refresh.js';
import { HIDDEN_IN_HOME, HIDDEN_IN_SYSTEM, KEPT_SETTINGS, PROXY_PORT } from './defaults.js';
import { execEntries, isAsking } from './exec/entries.js';
import { areSettingsAmong, judgedSettings } from './git/judged.js';
import { obeyedIn } from './git/names.js';
import { refuseUnseen } from './hidden-processes.js';
import { agentsOf, type OfferedAgents } from './keys/agents.js';
import { publicDockerDirectories, shownDockerConfig } from './keys/docker-config.js';
import { publicSshFiles } from './keys/public-files.js';
import { existing, isAmong, isLoose, missing, split } from './paths.js';
import { pendingEntries } from './pending/entries.js';
import { holdsChanges, isDropped } from './pending/pending-set.js';
import { follow } from './pins/follow.js';
import { type GrantedRights, grant, type RequestedRights } from './pins/granted.js';
import { judgingEntries } from './pins/history.js';
import { identityOf } from './pins/identity.js';
import { pipesOf } from './pipes.js';
import type { SandboxPolicy } from './policy.js';
import { portEntries } from './ports/ports.js';
import { proxyEntries, serverEntry } from './proxy-entries.js';
import { type KeptSecrets, keptSecrets } from './secrets/kept.js';
import { rootFiles } from './secrets/root-files.js';
import { serveSandboxes } from './served.js';
import { undoEntries } from './undo/entries.js';

/** The time for which a resolved policy is taken to be current: calls come in bursts. */
const FRESH_MS = 250;
const MOST_KEPT = 32;
const PRIVATE = ['/tmp', '/var/tmp', '/run', '/dev/shm'];

/** A sandbox, and the secrets that its commands do not get. */
export interface ResolvedSandbox extends EngineSandbox {
  readonly secrets: KeptSecrets | undefined;
  readonly agents: OfferedAgents;
  readonly caches: SandboxCaches | undefined;
}

/** A policy resolved in a directory, at a time by `performance.now()`. */
interface CachedSandbox {
  readonly at: number;
  readonly resolved: ResolvedSandbox;
  /** Identities of the files that must be unchanged for the entry to be valid. */
  readonly pins: ReadonlyMap<string, string>;
}

/** The cached data of a policy. */
interface CachedPolicy {
  readonly recent: Map<string, CachedSandbox>;
  /** By base directory: the paths that first got rights. */
  readonly pinned: Map<string, RequestedRights>;
}

const known = new WeakMap<SandboxPolicy, CachedPolicy>();

/**
 * Resolves a policy in a directory. Policies are compared by identity: the first call decides which files
 * get rights, and no others get them later.
 *
 * @throws {InputError} The workspace is the whole file system, or reached by a link that a command can
 * have made; or this machine lacks what the policy needs.
 */
export function resolveSandbox(policy: SandboxPolicy, cwd: string): ResolvedSandbox {
  const { recent, pinned } = known.get(policy) ?? { recent: new Map(), pinned: new Map() };
  known.set(policy, { recent, pinned });
  const now = performance.now();
  const last = recent.get(cwd);
  const isFresh = last !== undefined && now - last.at < FRESH_MS && !isDropped(policy);
  if (isFresh && stands(last.pins)) return last.resolved;
  const base = policy.workspace === undefined ? cwd : absoluteIn(cwd, policy.workspace);
  const granted = grant(pinned.get(base) ?? askedBy(policy, base));
  const { resolved, pins } = resolveNow(policy, cwd, base, granted);
  keep(pinned, base, granted.again);
  keep(recent, cwd, { at: now, resolved, pins });
  return resolved;
}

/** Returns whether all files are unchanged: a rename takes no time. */
function stands(pins: ReadonlyMap<string, string>): boolean {
  for (const [path, identity] of pins) if (identityOf(path) !== identity) return false;
  return true;
}

/** Decides which files get the rights of a policy before any of its commands has run. */
export function pinSandbox(policy: SandboxPolicy): void {
  if (policy.workspace !== undefined) resolveSandbox(policy, resolve(policy.workspace));
}

/** Stores a value as the newest, and drops the oldest. */
function keep<Value>(all: Map<string, Value>, key: string, value: Value): void {
  all.delete(key);
  all.set(key, value);
  const [oldest] = all.keys();
  if (all.size > MOST_KEPT && oldest !== undefined) all.delete(oldest);
}

function resolveNow(
  policy: SandboxPolicy,
  cwd: string,
  base: string,
  granted: GrantedRights,
): Omit<CachedSandbox, 'at'> {
  refuseUnseen(policy);
  const { filesystem = {} } = policy;
  const home = homeOfUser();
  const all = (paths: readonly string[]) => paths.map((path) => absoluteIn(base, path));
  const { writable, git } = granted;
  const isHeld = holdsChanges(policy);
  const denied = filesystem.denyWrite ?? (isHeld ? [] : KEPT_SETTINGS);
  const settings = writable
    .filter((root) => !git.directories.includes(root))
    .flatMap((root) =>
      denied.map((path) => (isLoose(path) ? join(root, path) : absoluteIn(base, path))),
    );
  const deniedHere = existing([...settings, ...git.obeyed]);
  const isKept = filesystem.denyWrite
    ? areSettingsAmong(writable, deniedHere)
    : deniedHere.length > 0;
  const denyRead = filesystem.denyRead
    ? all(filesystem.denyRead)
    : [...HIDDEN_IN_HOME.flatMap((path) => (home ? join(home, path) : [])), ...HIDDEN_IN_SYSTEM];
  const hidden = [...denyRead, ...recordsOfTasks(writable)];
  // Writable paths are visible anyway, and the stricter rule for the same path would count.
  const unseen = [cwd, base].map(realOf).filter((place) => !isAmong(place, writable));
  const amongPrivate = unseen.filter((place) => isAmong(place, PRIVATE));
  const secrets = policy.secrets && keptSecrets(policy.secrets);
  const trusted = secrets === undefined ? [] : [realOf(secrets.directory)];
  // Files that this process and its proxy rely on later.
  const obeyedHere = [...ownPlaces(), ...(secrets === undefined ? [] : rootFiles())];
  const own = obeyedHere.filter((path) => isAmong(path, writable) && !writable.includes(path));
  // With the host's `/tmp`, commands would find this process's private files there.
  const privates = filesystem.tmp === 'shared' ? [realOf(userDirectory())] : [];
  // What must stay visible although it is among temporary files.
  const shown = [...amongPrivate, ...granted.shown, ...trusted];
  // What is public among keys; a list of one's own hides what it names.
  if (filesystem.denyRead === undefined && home) {
    shown.push(...publicSshFiles(home), ...publicDockerDirectories(home));
  }
  const obeyed = git.directories.flatMap(obeyedIn);
  const ownTmp = filesystem.tmp !== 'shared';
  return planned(policy, granted, {
    judged: [
      isKept ? 'settings\0kept\0' : '',
      ...(policy.settings === 'read-only' || isHeld
        ? ['settings\0read-only\0']
        : [
            git.directories.length === 0 ? '' : judgedSettings(writable),
            ...judgingEntries(writable, git.directories, KEPT_SETTINGS),
          ]),
    ],
    programs: execEntries(policy.exec, {
      absolute: (path) => absoluteIn(base, path),
      isWritable: (path) => !writable.includes('/') && isAmong(realOf(path), writable),
    }),
    secrets,
    agents: agentsOf(policy, home),
    caches: cachesOf(policy, realOf(base), { writable, hidden, ownTmp }),
    writable: existing(writable),
    kept: [...deniedHere, ...existing([...trusted, ...own, ...privates]), ...obeyed],
    hidden: [...new Set(hidden)],
    shown: existing(shown),
    sockets: existing(granted.sockets),
    ownTmp,
    network: policy.network === 'full',
    proxyPort: typeof policy.network === 'object' || secrets !== undefined ? PROXY_PORT : undefined,
  });
}

/**
 * Returns the directory with the records, sockets and outputs of detached tasks, which commands neither see nor
 * make, whatever a policy says: a host that finds a task there trusts it.
 */
function recordsOfTasks(writable: readonly string[]): readonly string[] {
  const path = statePath();
  if (path === undefined) return [];
  if (!existsSync(path) && isAmong(realOf(path), writable)) claimStateDirectory(path);
  return [path];
}

/** @throws {InputError} The workspace is the whole file system. */
function askedBy(policy: SandboxPolicy, base: string): RequestedRights {
  const { mode, filesystem = {}, allowUnixSockets = [] } = policy;
  const isWorkspace = (mode ?? 'workspace-write') === 'workspace-write';
  if (isWorkspace && base === '/') {
    throw new InputError("sandbox: expected a workspace other than '/', which contains everything");
  }
  const all = (paths: readonly string[] = []) => paths.map((path) => absoluteIn(base, path));
  return {
    workspace: isWorkspace ? base : undefined,
    temporary: filesystem.tmp === 'shared' ? ['/tmp', '/var/tmp', '/dev/shm'] : [],
    allowWrite: all(filesystem.allowWrite),
    allowRead: all(filesystem.allowRead),
    sockets: all(allowUnixSockets),
    hasGit: filesystem.denyWrite === undefined && !holdsChanges(policy),
  };
}

/** Entries of a plan that are made beforehand. */
interface PlannedRules {
  /** About changes that are judged. */
  readonly judged: readonly string[];
  /** About programs. */
  readonly programs: readonly string[];
}

function planned(
  policy: SandboxPolicy,
  { git }: GrantedRights,
  { judged, programs, ...sandbox }: Omit<ResolvedSandbox, 'plan'> & PlannedRules,
): Omit<CachedSandbox, 'at'> {
  const entries = (word: string, paths: readonly string[]): string =>
    paths.map((path) => `${word}\0${path}\0`).join('');
  // A file that was replaced by then is not the one that was meant: it makes another plan, and so another
  // sandbox.
  const pins = new Map<string, string>();
  const pinned = (word: string, paths: readonly string[]): string => {
    for (const path of paths) pins.set(path, identityOf(path) ?? '');
    return paths.map((path) => `${word}\0${path}\0is\0${pins.get(path)}\0`).join('');
  };
  const { writable } = sandbox;
  const isGits = (path: string) => git.directories.includes(path);
  const pipes = existing(
    pipesOf(policy)
      .map(realOf)
      .filter((path) => !isAmong(path, writable)),
  );
  const isHeld = (path: string) => git.directories.some((one) => isAmong(path, [one]));
  const [within, elsewhere] = split(existing(sandbox.hidden), (path) =>
    isAmong(realOf(path), writable),
  );
  const plan = [
    `require\0${policy.require ?? 'all'}\0`,
    sandbox.network ? 'network\0full\0' : '',
    policy.processes === 'host' ? 'processes\0host\0' : '',
    sandbox.proxyPort === undefined && !isAsking(policy.exec) ? '' : serverEntry(),
    ...(sandbox.proxyPort === undefined ? [] : proxyEntries(policy)),
    ...portEntries(policy.ports),
    undoEntries(policy),
    pendingEntries(policy, writable, pipes),
    sandbox.ownTmp ? '' : 'tmp\0shared\0',
    pinned('write', [...writable.filter((path) => !isGits(path)), ...pipes]),
    pinned('git', existing(git.directories)),
    ...judged,
    ...programs,
    pinned(
      'keep',
      sandbox.kept.filter((path) => !isHeld(path)),
    ),
    within.map((path) => pinned('hide', [path]) + instead(policy, path)).join(''),
    entries('home', [homeOfUser() ?? []].flat()),
    elsewhere.map((path) => entries('hide', [path]) + instead(policy, path)).join(''),
    entries('absent', missing(sandbox.hidden)),
    pinned('show', sandbox.shown),
    pinned('socket', sandbox.sockets),
    sandbox.agents.plan,
    sandbox.caches?.entries ?? '',
  ].join('');
  for (const [path, identity] of sandbox.caches?.pins ?? []) pins.set(path, identity);
  if (sandbox.caches !== undefined) noteLayers(plan, sandbox.caches.layers);
  if (sandbox.proxyPort !== undefined) serveSandboxes(plan, sandbox.secrets);
  return { resolved: { ...sandbox, plan }, pins };
}

/** Returns the entry for what a hidden file shows instead. Empty: nothing. */
function instead({ filesystem }: SandboxPolicy, path: string): string {
  const home = homeOfUser();
  const isDockers = home !== undefined && path === join(home, '.docker/config.json');
  if (!isDockers || filesystem?.denyRead !== undefined) return '';
  const text = shownDockerConfig(path);
  return text === undefined ? '' : `instead\0${text}\0`;
}

function realOf(path: string): string {
  return follow(path)?.real ?? path;
}

/** Returns the home directory; undefined: there is none, or only the name of one that is no absolute path. */
function homeOfUser(): string | undefined {
  const home = homeDirectory();
  return home !== undefined && isAbsolute(home) ? home : undefined;
}

/**
 * Makes a path absolute: from the home directory, or relative to a directory.
 *
 * @throws {InputError} There is no home directory.
 */
function absoluteIn(base: string, path: string): string {
  return resolve(base, expandHome('sandbox', path, homeOfUser()));
}
