import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostDirectory } from '../../support/paths.js';
import { gitProgram } from '../git/judged.js';
import type { HeldRecord } from './record.js';

/** The longest that git may take for one key, in milliseconds. */
const LONGEST_MS = 10_000;
/** Bytes that git prints of a configuration: each setting repeats the name of its section. */
const MOST_PRINTED_BYTES = 8 * 1024 * 1024;
/** The most keys of one change: git is run for each. */
const MOST_KEYS = 64;

/** The contents of a configuration: before the change, with it, and as it is now. */
type ThreeContents = readonly [was: Uint8Array, would: Uint8Array, now: Uint8Array];

/** The values of each key, in their order; null: none is given, which means true. */
type KeyValues = ReadonlyMap<string, readonly (string | null)[]>;

/**
 * Has git set the keys that a change of its configuration would have changed. Undefined: one of them is no longer
 * as it was before, or git can't do it.
 *
 * @throws The system's error.
 */
export async function mergedConfig(
  directory: string,
  record: HeldRecord,
  contents: ThreeContents,
): Promise<Uint8Array | undefined> {
  const program = gitProgram(untrusted(record));
  if (program === undefined) return undefined;
  // No command can open a file there.
  const copy = join(directory, record.id, 'merged');
  const git = (...args: readonly string[]) => run(program, ['config', '--file', copy, ...args]);
  const read = async () => valuesIn(await git('--list', '-z', '--no-includes'));
  try {
    const all: (KeyValues | undefined)[] = [];
    for (const content of contents) {
      await writeFile(copy, content, { mode: 0o600 });
      // Git lists no keys of a file without any.
      all.push(await read());
    }
    const [was, would, now] = all;
    if (was === undefined || would === undefined || now === undefined) return undefined;
    const wanted = wantedValues(was, would, now);
    if (wanted === undefined) return undefined;
    for (const [key, values] of wanted) {
      const commands = settingCommands(spelled(key, contents[1]), now.get(key) ?? [], values);
      for (const command of commands) if ((await git(...command)) === undefined) return undefined;
    }
    const made = await read();
    // What git has made of it is checked, not trusted.
    if (made === undefined || !isSame(made, new Map([...now, ...wanted]))) return undefined;
    return await readFile(copy);
  } finally {
    await rm(copy, { force: true });
    await rm(`${copy}.lock`, { force: true });
  }
}

/** Returns directories where commands write: a program there is not run. */
function untrusted({ path, workspace = '' }: HeldRecord): readonly string[] {
  const [top = ''] = path.split('/.git/', 1);
  return [top, workspace, hostDirectory() ?? ''].filter(Boolean);
}

/** Returns the values of the keys that have to be set; undefined: one has changed otherwise, or can't be set. */
function wantedValues(was: KeyValues, would: KeyValues, now: KeyValues): KeyValues | undefined {
  const wanted = new Map<string, readonly (string | null)[]>();
  for (const key of new Set([...was.keys(), ...would.keys()])) {
    const [before, after, there] = [was, would, now].map((all) => JSON.stringify(all.get(key)));
    if (after === before || after === there) continue;
    const values = would.get(key) ?? [];
    // What is included applies from its line on. Git writes no key without a value.
    const isPlaced = /^include(?:if\..*)?\.path$/s.test(key);
    if (there !== before || isPlaced || values.includes(null)) return undefined;
    wanted.set(key, values);
  }
  return wanted.size > MOST_KEYS ? undefined : wanted;
}

/** Returns the arguments by which git sets the values of a key. */
function settingCommands(
  key: string,
  there: readonly (string | null)[],
  values: readonly (string | null)[],
): readonly (readonly string[])[] {
  const isMore = there.every((value, index) => value === values[index]);
  const added = values.slice(isMore ? there.length : 0).map((value) => ['--add', key, value ?? '']);
  const [first] = values;
  if (there.length === 1 && values.length === 1) return [['--replace-all', key, first ?? '']];
  return [...(isMore ? [] : [['--unset-all', key]]), ...added];
}

/** Returns a key with its name as it is spelled in a content: git lists all in lower case. */
function spelled(key: string, content: Uint8Array): string {
  const [, section, name = ''] = /^(.*\.)([^.]*)$/s.exec(key) ?? [];
  const found = new RegExp(`^[ \\t]*(${name})[ \\t]*=`, 'im').exec(Buffer.from(content).toString());
  return `${section}${found?.[1] ?? name}`;
}

function isSame(one: KeyValues, other: KeyValues): boolean {
  const sorted = (all: KeyValues) =>
    [...all].filter(([, values]) => values.length > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function valuesIn(printed: Uint8Array | undefined): KeyValues | undefined {
  if (printed === undefined) return undefined;
  const text = Buffer.from(printed).toString();
  // A value that is not UTF-8 could not be told from another one.
  if (Buffer.compare(Buffer.from(text), printed) !== 0) return undefined;
  const all = new Map<string, (string | null)[]>();
  for (const setting of text.split('\0').filter(Boolean)) {
    const [key = '', ...lines] = setting.split('\n');
    all.set(key, [...(all.get(key) ?? []), lines.length === 0 ? null : lines.join('\n')]);
  }
  return all;
}

/** Runs git, which sees no repository and no other configuration; undefined: it could not do it. */
function run(program: string, args: readonly string[]): Promise<Uint8Array | undefined> {
  const options = {
    cwd: '/',
    encoding: 'buffer',
    env: {
      GIT_DIR: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      LC_ALL: 'C',
    },
    maxBuffer: MOST_PRINTED_BYTES,
    timeout: LONGEST_MS,
  } as const;
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout) => resolve(error ? undefined : stdout));
  });
}
