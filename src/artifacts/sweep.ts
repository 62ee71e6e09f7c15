import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inBatches } from '../support/batches.js';
import { type HostDirectory, inDirectory } from '../support/directories/host-files.js';
import { COUNTER_NAME, type Entry, parseName } from './names.js';

/** Limits for the artifacts of a directory. */
export interface SweepLimits {
  /** Bytes of all artifacts together. */
  readonly maxTotalBytes: number;
  /** Time since an artifact was published, in milliseconds. */
  readonly maxAgeMs: number;
}

/** Terms of one sweep, beside the limits. */
interface SweepTerms {
  /** The path of an artifact that stays, however old or large. */
  readonly spared?: string | undefined;
  /** Asked from time to time whether to continue. */
  readonly goesOn?: () => boolean;
}

/** The result of a sweep. */
interface SweepResult {
  /** Bytes of all artifacts that remain. */
  readonly totalBytes: number;
  /** Paths of the removed files. */
  readonly removed: readonly string[];
}

/** The least age of a draft to be removed: a younger one may belong to a running command. */
const LEAST_AGE_MS = 24 * 3600 * 1000;

/** Removes the files that are too old, and then the oldest artifacts until the rest is small enough. */
export function sweep(
  directory: string,
  limits: SweepLimits,
  terms: SweepTerms = {},
): Promise<SweepResult> {
  return inDirectory(directory, (place) => sweepIn(place, directory, limits, terms));
}

async function sweepIn(
  place: HostDirectory,
  directory: string,
  { maxTotalBytes, maxAgeMs }: SweepLimits,
  { spared, goesOn = () => true }: SweepTerms,
): Promise<SweepResult> {
  const now = Date.now();
  const names = await readdir(place.at('.'));
  // Until there is a counter, claims say where ids go on.
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
    // The newest artifact stays, even if it alone is too large.
    return age <= maxAgeMs && (total === 0 || total + bytes <= maxTotalBytes);
  }
}

interface FoundFile {
  readonly entry: Entry;
  readonly bytes: number;
  readonly mtimeMs: number;
}

function newestFirst(one: FoundFile, other: FoundFile): number {
  const [a, b] = [one.entry, other.entry];
  if (a.kind === 'artifact' && b.kind === 'artifact') return b.id - a.id;
  return other.mtimeMs - one.mtimeMs;
}

async function lookAt(place: HostDirectory, entry: Entry): Promise<FoundFile | undefined> {
  try {
    const { size, mtimeMs } = await place.look(entry.name);
    return { entry, bytes: size, mtimeMs };
  } catch {
    // The file was removed meanwhile: another host uses the same directory.
    return undefined;
  }
}
