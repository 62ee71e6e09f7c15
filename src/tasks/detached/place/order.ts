import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isNumber, isNumberOrNothing, isSwitch, isText, keptFields } from './kept-fields.js';
import { readOwnFile } from './own-file.js';

/** What was asked of a detached command, as it is told to whoever finds it. Times in milliseconds. */
export interface DetachedOrder {
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  /** Undefined: it may take as long as it wants. */
  readonly timeoutMs: number | undefined;
  /** Time from SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** The most bytes of output that are kept. */
  readonly outputQuota: number;
  /** Whether it has a stdin that can be written to. */
  readonly hasInput: boolean;
  /** When it was asked for, in milliseconds since 1970. */
  readonly askedAt: number;
}

const NAME = 'task.json';
const VERSION = 1;
/** A command is some 200 KB long at most, and each of its characters six bytes. */
const LONGEST = 16 * 1024 * 1024;

/** @throws Of the system, when the disk is full for instance. */
export async function writeOrder(directory: string, order: DetachedOrder): Promise<void> {
  const text = JSON.stringify({ version: VERSION, ...order });
  const draft = join(directory, `${NAME}.new`);
  await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
  await rename(draft, join(directory, NAME));
}

/** Undefined: there is none that could be trusted. */
export async function readOrder(directory: string): Promise<DetachedOrder | undefined> {
  try {
    const text = await readOwnFile(join(directory, NAME), LONGEST);
    return parseOrder(JSON.parse(text.toString()));
  } catch {
    return undefined;
  }
}

/** @throws {Error} It is no order. */
function parseOrder(value: unknown): DetachedOrder {
  const read = keptFields<keyof DetachedOrder | 'version'>('order', value);
  if (read('version', isNumber) !== VERSION) throw new Error('version: another one');
  return {
    command: read('command', isText),
    cwd: read('cwd', isText),
    timeoutMs: read('timeoutMs', isNumberOrNothing),
    graceMs: read('graceMs', isNumber),
    outputQuota: read('outputQuota', isNumber),
    hasInput: read('hasInput', isSwitch),
    askedAt: read('askedAt', isNumber),
  };
}
