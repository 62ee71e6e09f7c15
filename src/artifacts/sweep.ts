import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Entry, parseName } from './names.js';

/** What may stay in a directory. */
interface SweepLimits {
  /** Bytes of all artifacts together. */
  readonly maxTotalBytes: number;
  /** Time since an artifact was written, in milliseconds. */
  readonly maxAgeMs: number;
}

/** Drafts and claims may belong to a command that runs; none runs as long. */
const LEAST_AGE_MS = 24 * 3600 * 1000;

/** Removes what is too old, and then the oldest artifacts until the rest is small enough. */
export async function sweep(
  directory: string,
  { maxTotalBytes, maxAgeMs }: SweepLimits,
  now = Date.now(),
): Promise<void> {
  const files = await look(directory);
  const ids = files.flatMap(({ entry }) => (entry.kind === 'draft' ? [] : [entry.id]));
  // It says where to go on: without it, ids would begin at 0 again.
  const highest = Math.max(...ids);
  const doomed: string[] = [];
  let total = 0;
  for (const { entry, bytes, mtimeMs } of files.sort(newestFirst)) {
    const age = now - mtimeMs;
    if (entry.kind === 'artifact') {
      const keepsNewest = total === 0;
      if (age > maxAgeMs || (total + bytes > maxTotalBytes && !keepsNewest)) {
        doomed.push(entry.name);
      } else total += bytes;
    } else if (age > Math.max(maxAgeMs, LEAST_AGE_MS)) {
      if (entry.kind === 'draft' || entry.id < highest) doomed.push(entry.name);
    }
  }
  await Promise.all(doomed.map((name) => rm(join(directory, name), { force: true })));
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

async function look(directory: string): Promise<Found[]> {
  const found = (await readdir(directory)).map(async (name): Promise<Found[]> => {
    const entry = parseName(name);
    if (entry === undefined) return [];
    try {
      const { size, mtimeMs } = await stat(join(directory, name));
      return [{ entry, bytes: size, mtimeMs }];
    } catch {
      // Gone meanwhile: another host uses the same directory.
      return [];
    }
  });
  return (await Promise.all(found)).flat();
}
