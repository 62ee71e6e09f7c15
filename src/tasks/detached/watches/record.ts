import { open, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, messageOf } from '../../../support/errors.js';
import { warnHost } from '../../../support/logger.js';
import type { LinePattern } from '../../lookout/lines.js';
import type { Ledger } from '../../notify/ledger.js';
import { type DetachedNotify, type WatchName, watchesOf } from '../../notify/notify.js';
import { readOutputFile } from '../output-file.js';
import {
  isNumber,
  isNumberOrNothing,
  isSwitch,
  isText,
  isTexts,
  keptFields,
} from '../place/kept-fields.js';
import { readOwnFile } from '../place/own-file.js';

/** The file that says what is to be told of a detached command. */
const NAME = 'notify.json';
const VERSION = 1;
/** The most bytes of such a file: one pattern, of which each character takes up to six. */
const LONGEST = 4 * 1024 * 1024;

/** The mark of a watch that was told: a file that only one host can have made. */
const TOLD = 'notify.told.';
/** The position up to which no line has matched. */
const SEARCHED = 'notify.searched';

/** @throws The system's error, for instance when the disk is full. */
export async function writeNotify(directory: string, notify: DetachedNotify): Promise<void> {
  const { to, line, port, silentMs, ended = false } = notify;
  const pattern = line instanceof RegExp ? [line.source, line.flags] : line;
  const text = { version: VERSION, to, line: pattern, port, silentMs, ended };
  await writeFile(join(directory, NAME), JSON.stringify(text), { mode: 0o600, flag: 'wx' });
}

/** Returns undefined when there is no file that can be trusted. */
export async function readNotify(directory: string): Promise<DetachedNotify | undefined> {
  try {
    return parseNotify(JSON.parse((await readOwnFile(join(directory, NAME), LONGEST)).toString()));
  } catch {
    return undefined;
  }
}

/** @throws {Error} `value` was not written by {@link writeNotify}. */
function parseNotify(value: unknown): DetachedNotify {
  const read = keptFields<keyof DetachedNotify | 'version'>('notify', value);
  if (read('version', isNumber) !== VERSION) throw new Error('version: another one');
  return {
    to: read('to', isText),
    line: patternOf(read('line', isPattern)),
    port: read('port', isPort),
    silentMs: read('silentMs', isNumberOrNothing),
    ended: read('ended', isSwitch),
  };
}

const isPattern = (field: unknown): field is string | readonly string[] | undefined =>
  field === undefined || isText(field) || (isTexts(field) && field.length === 2);
const isPort = (field: unknown): field is number | true | undefined =>
  field === true || isNumberOrNothing(field);

function patternOf(kept: string | readonly string[] | undefined): LinePattern | undefined {
  if (kept === undefined || typeof kept === 'string') return kept;
  const [source = '', flags] = kept;
  return new RegExp(source, flags);
}

/** Returns the watches that a host has told, or was about to tell when it was killed. */
export async function toldWatches(
  directory: string,
  notify: DetachedNotify,
): Promise<readonly WatchName[]> {
  const found = watchesOf(notify).map(async (name) => {
    const told = stat(join(directory, `${TOLD}${name}`));
    return told.then(
      () => name,
      () => [],
    );
  });
  return (await Promise.all(found)).flat();
}

/** How far before the noted position a line that goes on there may begin. */
const BEFORE_BYTES = 64 * 1024;

/** Returns where the search for a line goes on: at the beginning of the line that was not searched whole. */
export async function searchFrom(directory: string, outputFile: string): Promise<number> {
  const position = await readPosition(directory);
  if (position === 0) return 0;
  const since = Math.max(0, position - BEFORE_BYTES);
  const { bytes, from } = await readOutputFile(outputFile, since, position - since);
  const newline = Buffer.from(bytes).lastIndexOf('\n');
  return from + newline + 1;
}

async function readPosition(directory: string): Promise<number> {
  try {
    const position = Number((await readOwnFile(join(directory, SEARCHED), 32)).toString());
    return Number.isSafeInteger(position) && position > 0 ? position : 0;
  } catch {
    return 0;
  }
}

/**
 * The watches of a detached command: marked on disk, so that of several hosts, one after another or at once,
 * one tells each. A host that is killed between the mark and the call of its listener has told nothing.
 */
export class DiskLedger implements Ledger {
  readonly isShared = true;
  readonly #directory: string;
  /** Marked by this host, whatever the disk says. */
  readonly #told = new Set<WatchName>();
  #hasWarned = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async claim(names: readonly WatchName[]): Promise<readonly WatchName[]> {
    const claimed = await Promise.all(
      names.map(async (name) => ((await this.#mark(name)) ? name : [])),
    );
    return claimed.flat();
  }

  /** A position that is lost, or an older one, only makes the next host search more. */
  searched(position: number): void {
    const path = join(this.#directory, SEARCHED);
    const draft = `${path}.${process.pid}`;
    writeFile(draft, String(position), { mode: 0o600 })
      .then(() => rename(draft, path))
      .catch(() => {});
  }

  async #mark(name: WatchName): Promise<boolean> {
    if (this.#told.has(name)) return false;
    this.#told.add(name);
    try {
      const file = await open(join(this.#directory, `${TOLD}${name}`), 'wx', 0o600);
      // The caller tells it at once: a host that is killed between has told nothing.
      file.close().catch(() => {});
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      // Better told again by the next host than by none. Without its place the task is not found again.
      if (!hasCode(error, 'ENOENT')) this.#warn(error);
      return true;
    }
  }

  #warn(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    warnHost(`what was told of a task can't be noted, and may be told again: ${messageOf(error)}`);
  }
}
