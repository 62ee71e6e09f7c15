import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inBatches } from '../support/batches.js';
import { type HostDirectory, inDirectory } from '../support/directories/host-files.js';
import { COUNTER_NAME, type Entry, parseName } from './names.js';

/** What may stay in a directory. */
export interface SweepLimits {
  /** Bytes of all artifacts together. */
  readonly maxTotalBytes: number;
  /** Time since an artifact was published, in milliseconds. */
  readonly maxAgeMs: number;
}

/** What is not the limits' affair. */
interface SweepTerms {
  /** The path of an artifact that stays, however old or large. */
  readonly spared?: string | undefined;
  /** Asked every now and then: whether it is still wanted. */
  readonly goesOn?: () => boolean;
}

/** What a sweep has found, and done. */
interface Swept {
  /** Bytes of all artifacts that are left. */
  readonly totalBytes: number;
  /** Paths. */
  readonly removed: readonly string[];
}

/** Drafts may belong to a command that runs; none runs as long. */
const LEAST_AGE_MS = 24 * 3600 * 1000;

/** Removes what is too old, and then the oldest artifacts until the rest is small enough. */
export function sweep(
  directory: string,
  limits: SweepLimits,
  terms: SweepTerms = {},
): Promise<Swept> {
  return inDirectory(directory, (place) => sweepIn(place, directory, limits, terms));
}

async function sweepIn(
  place: HostDirectory,
  directory: string,
  { maxTotalBytes, maxAgeMs }: SweepLimits,
  { spared, goesOn = () => true }: SweepTerms,
): Promise<Swept> {
  const now = Date.now();
  const names = await readdir(place.at('.'));
  // Until there is a counter, they say where ids go on.
  const claimsMayGo = names.includes(COUNTER_NAME);
  const entries = names.flatMap((name) => parseName(name) ?? []);
  const claims = entries.filter(({ kind }) => kind === 'claim');
  const doomed = claimsMayGo ? claims.map(({ name }) => name) : [];
  const others = entries.filter(({ kind }) => kind !== 'claim');
  const found = await inBatches(others, (entry) => lookAt(place, entry), goesOn);
  let totalBytes = 0;
  for (const file of found.filter((one) => one !== undefined).sort(newestFirst)) {
    const age = now - file.mtimeMs;
    if (file.entry.kind === 'draft') {
      if (age > Math.max(maxAgeMs, LEAST_AGE_MS)) doomed.push(file.entry.name);
    } else if (
      join(directory, file.entry.name) === spared ||
      staysWith(totalBytes, age, file.bytes)
    ) {
      totalBytes += file.bytes;
    } else {
      doomed.push(file.entry.name);
    }
  }
  await inBatches(doomed, (name) => rm(place.at(name), { force: true }).catch(() => {}), goesOn);
  return { totalBytes, removed: doomed.map((name) => join(directory, name)) };

  function staysWith(total: number, age: number, bytes: number): boolean {
    // The newest stays, even when it is too large all by itself.
    return age <= maxAgeMs && (total === 0 || total + bytes <= maxTotalBytes);
  }
}

interface Found {
  readonly entry: Entry;
  readonly bytes: number;
  readonly mtimeMs: number;
}

function newestFirst(one: Found, other: Found): number {
  const [a, b] = [one.entry, other.entry];
  if (a.kind === 'artifact' && b.kind === 'artifact') return b.id - a.id;
  return other.mtimeMs - one.mtimeMs;
}

async function lookAt(place: HostDirectory, entry: Entry): Promise<Found | undefined> {
  try {
    const { size, mtimeMs } = await place.look(entry.name);
    return { entry, bytes: size, mtimeMs };
  } catch {
    // Gone meanwhile: another host uses the same directory.
    return undefined;
  }
}
