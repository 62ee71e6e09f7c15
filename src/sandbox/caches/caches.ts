import { existsSync, lstatSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { homeDirectory } from '../../support/directories/home.js';
import { reachableDirectories } from '../../support/directories/reachable.js';
import { isAmong } from '../paths.js';
import { follow, followTrusted } from '../pins/follow.js';
import { identityOf } from '../pins/identity.js';
import type { SandboxPolicy } from '../policy.js';
import { hashOf, layersOf } from './layers.js';
import { mountPoints } from './mount-points.js';
import { cacheVariables, type ToolCache, toolCaches } from './places.js';

/** The default bound for the layers of a workspace, when no sandbox of it stands. */
const MOST_BYTES = 2 * 1024 ** 3;

/** Where commands find caches that the user does not have, if a variable can say so. */
const OWN_CACHE = '/tmp/.cache';

/** Directories of the system, over which no layer is put, whatever a variable says. */
const SYSTEM = ['/proc', '/sys', '/dev', '/run', '/etc', '/usr', '/bin', '/sbin', '/lib', '/boot'];

/** The caches of a sandbox. */
export interface SandboxCaches {
  /** The directory of the workspace's layers. */
  readonly layers: string;
  /** Its entries in the plan. */
  readonly entries: string;
  /** Identities of the user's caches, by path. */
  readonly pins: ReadonlyMap<string, string>;
  /** Variables for commands that have the host's home, and its value of `XDG_CACHE_HOME`. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The real paths of a sandbox that a cache has to be apart from. */
interface SandboxPlaces {
  readonly writable: readonly string[];
  readonly hidden: readonly string[];
  readonly ownTmp: boolean;
}

/** The same, and where file systems are mounted. */
interface CachePlaces extends SandboxPlaces {
  readonly mounts: readonly string[];
}

/** A cache with its real path, decided once; undefined: a link that a command can have made leads there. */
interface FoundCache extends ToolCache {
  readonly real: string | undefined;
}

const found = new Map<string, readonly FoundCache[]>();
const MOST_KEPT = 32;

/**
 * Decides which caches of the user commands see, with a layer of their workspace over each.
 *
 * @param workspace Real path.
 * @returns Undefined when the policy has none, or the user has no place for layers.
 */
export function cachesOf(
  policy: SandboxPolicy,
  workspace: string,
  places: SandboxPlaces,
): SandboxCaches | undefined {
  const mostBytes = boundOf(policy);
  const home = homeDirectory();
  if (mostBytes === undefined || home === undefined || !isAbsolute(home)) return undefined;
  const layers = layersOf(workspace);
  if (layers === undefined) return undefined;
  const real = { ...places, hidden: places.hidden.map(realOf), mounts: mountPoints() };
  const pins = new Map<string, string>();
  const entries = [`layers\0${layers}\0layers-of\0${workspace}\0layers-bytes\0${mostBytes}\0`];
  const variables: Record<string, string> = {};
  const done: string[] = [];
  for (const cache of foundCaches(home, places.writable)) {
    const entry = entryOf(cache, realOf(home), real, done);
    if (entry === undefined) continue;
    entries.push(entry.text);
    done.push(entry.path);
    if (entry.identity !== undefined) pins.set(entry.path, entry.identity);
    Object.assign(variables, entry.variables);
  }
  return { layers, entries: entries.join(''), pins, variables };
}

/** Returns the most bytes that the layers keep; undefined: there are no layers. */
function boundOf({ mode, require = 'all', caches }: SandboxPolicy): number | undefined {
  const isWhole = (mode ?? 'workspace-write') === 'workspace-write' && require === 'all';
  const asked = caches ?? (isWhole ? 'private' : 'none');
  if (asked === 'none' || require === 'landlock') return undefined;
  return asked === 'private' ? MOST_BYTES : asked.maxBytes;
}

/** A cache in a plan. */
interface CacheEntry {
  readonly text: string;
  readonly path: string;
  readonly identity?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** @param done Real paths of caches that are in the plan. */
function entryOf(
  { name, path, real, variable }: FoundCache,
  home: string,
  places: CachePlaces,
  done: readonly string[],
): CacheEntry | undefined {
  const { ownTmp } = places;
  // One within another one has that one's layer.
  if (real !== undefined && isAmong(real, done)) return undefined;
  const layer = `${name}-${hashOf(real ?? path)}`;
  const variables = variable === undefined ? undefined : { [variable]: path };
  if (real !== undefined && isApart(real, home, places) && isOneDirectory(real, places)) {
    const identity = identityOf(real) ?? '';
    const text = `cache\0${real}\0is\0${identity}\0layer\0${layer}\0`;
    return { text, path: real, identity, ...(variables && { variables }) };
  }
  if (ownTmp && variable === 'XDG_CACHE_HOME') {
    const text = `void\0${layer}\0at\0${OWN_CACHE}\0`;
    return { text, path: OWN_CACHE, variables: { [variable]: OWN_CACHE } };
  }
  if (ownTmp && variable === 'npm_config_cache') {
    const own = join(OWN_CACHE, 'npm');
    // Below the one that is there already, or beside the user's.
    const text = done.includes(OWN_CACHE) ? '' : `void\0${layer}\0at\0${own}\0`;
    return { text, path: own, variables: { [variable]: own } };
  }
  if (real === undefined || (existsSync(real) && !isOneDirectory(real, places))) return undefined;
  const place = firstMissing(real);
  if (!isDirectory(dirname(place))) return undefined;
  // Nothing of the user's is there, so nothing of it has to be hidden.
  const isFree = isApart(place, home, { ...places, hidden: [] }) && !isAmong(place, places.hidden);
  if (!isAmong(place, [home]) || !isFree) return undefined;
  const text = isAmong(place, done) ? '' : `void\0${layer}\0at\0${place}\0`;
  return { text, path: place, ...(variables && { variables }) };
}

/** Finds the caches as they are before a command has run; later ones do not count. */
function foundCaches(home: string, writable: readonly string[]): readonly FoundCache[] {
  const variables = cacheVariables();
  const key = JSON.stringify([home, variables]);
  const known = found.get(key);
  if (known !== undefined) return known;
  const roots = [...reachableDirectories(), ...writable];
  const followed = toolCaches(home, variables).map((cache): FoundCache => {
    return { ...cache, real: followTrusted(cache.path, roots)?.real };
  });
  found.set(key, followed);
  const [oldest] = found.keys();
  if (found.size > MOST_KEPT && oldest !== undefined) found.delete(oldest);
  return followed;
}

/** Returns whether a layer over this directory covers, and shows, nothing that is the policy's. */
function isApart(real: string, home: string, { writable, hidden }: SandboxPlaces): boolean {
  const contains = (path: string) => isAmong(path, [real]);
  const isWithin = isAmong(real, [...writable, ...hidden, ...SYSTEM]);
  return !isWithin && ![home, ...writable, ...hidden, ...SYSTEM].some(contains);
}

/**
 * Returns whether this is a directory on one file system: an overlay does not show what is mounted below it, and
 * nothing of the user's is covered by an empty directory for that.
 */
function isOneDirectory(real: string, { mounts }: CachePlaces): boolean {
  return isDirectory(real) && !mounts.some((path) => path !== real && isAmong(path, [real]));
}

function isDirectory(real: string): boolean {
  try {
    return lstatSync(real).isDirectory();
  } catch {
    return false;
  }
}

function firstMissing(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) ? path : firstMissing(parent);
}

function realOf(path: string): string {
  return follow(path)?.real ?? path;
}
