import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import { type Held, heldBack } from '../../src/index.js';

/** A held change as the process beside a sandbox writes it down. */
export interface WrittenChange {
  readonly path: string;
  readonly what?: 'file' | 'link' | 'removal';
  readonly reason?: string;
  readonly keys?: readonly string[];
  readonly mode?: string;
  readonly content?: string;
  /** What was there: its bytes are kept, and its identity if it is still there. */
  readonly was?: string;
  readonly at?: number;
  readonly version?: string;
  readonly workspace?: string;
  /** Whether the record has no directory, as those of earlier versions. */
  readonly isOld?: true;
}

/** Has this process keep its state in a folder of the test file. */
export function useState(folder: () => string): void {
  beforeAll(() => vi.stubEnv('XDG_STATE_HOME', folder()));
  afterAll(() => vi.unstubAllEnvs());
}

/** Returns the directory of held changes below a state directory, which it makes. */
export function heldIn(state: string): string {
  const directory = join(state, 'forkline/held');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** What identifies a file in a record. */
export function identity(path: string): string {
  const { dev, ino, size, mtimeNs } = lstatSync(path, { bigint: true });
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

/** The words for the nearest directory above a path. */
function baseOf(path: string): readonly (readonly [string, string])[] {
  const above = dirname(path);
  if (!existsSync(above)) return baseOf(above);
  const { dev, ino, birthtimeNs } = lstatSync(above, { bigint: true });
  return [
    ['base', above],
    ['directory', `${dev}:${ino}:${birthtimeNs}`],
  ];
}

let count = 0;

/** Writes down a held change. Returns its id. */
export function holdBack(state: string, change: WrittenChange): string {
  const { path, what = 'file', reason = 'setting', keys = [], mode = '100644' } = change;
  count += 1;
  const id = count.toString(16).padStart(16, '0');
  const directory = join(heldIn(state), id);
  mkdirSync(directory, { mode: 0o700 });
  const before = change.was === undefined ? 'none' : identity(path);
  const words = [
    ['version', change.version ?? '1'],
    ['at', String(change.at ?? Date.now())],
    ['path', path],
    ['what', what],
    ['reason', reason],
    ...keys.map((key) => ['key', key]),
    ['mode', mode],
    ['before', before],
    ['workspace', change.workspace ?? ''],
    ...(change.isOld || !isAbsolute(path) ? [] : baseOf(path)),
  ];
  writeFileSync(
    join(directory, 'record'),
    words
      .flat()
      .map((word) => `${word}\0`)
      .join(''),
  );
  if (what !== 'removal') writeFileSync(join(directory, 'content'), change.content ?? '');
  if (change.was !== undefined) writeFileSync(join(directory, 'before'), change.was);
  return id;
}

/** Holds a change back, and finds it. */
export async function heldNow(state: string, change: WrittenChange): Promise<Held> {
  const id = holdBack(state, change);
  const found = (await heldBack()).find((one) => one.id === id);
  if (found === undefined) throw new Error(`${change.path} is not listed`);
  return found;
}
