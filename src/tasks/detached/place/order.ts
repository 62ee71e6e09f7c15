import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TerminalSize } from '../../../options/terminal.js';
import {
  isNumber,
  isNumberOrNothing,
  isSizeOrNothing,
  isSwitch,
  isText,
  keptFields,
} from './kept-fields.js';
import { readOwnFile } from './own-file.js';

/** The options of a detached command, as they are stored for its followers. Times in milliseconds. */
export interface DetachedOrder {
  readonly command: string;
  /** Absolute path. */
  readonly cwd: string;
  /** Undefined: no time limit. */
  readonly timeoutMs: number | undefined;
  /** Time from SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** The most bytes of output that are kept. */
  readonly outputQuota: number;
  /** Whether the command has a stdin that can be written to, or a terminal. */
  readonly hasInput: boolean;
  /** The size of its terminal at its start; undefined: it has no terminal. */
  readonly terminal: TerminalSize | undefined;
  /** When the start was requested, in milliseconds since 1970. */
  readonly askedAt: number;
}

const NAME = 'task.json';
const VERSION = 1;
/**
 * The most bytes of such a file: a command has some 200 KB at most, and each of its characters takes up
 * to six bytes.
 */
const LONGEST = 16 * 1024 * 1024;

/** @throws The system's error, for instance when the disk is full. */
export async function writeOrder(directory: string, order: DetachedOrder): Promise<void> {
  const text = JSON.stringify({ version: VERSION, ...order });
  const draft = join(directory, `${NAME}.new`);
  await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
  await rename(draft, join(directory, NAME));
}

/** Returns undefined when there is no file that can be trusted. */
export async function readOrder(directory: string): Promise<DetachedOrder | undefined> {
  try {
    const text = await readOwnFile(join(directory, NAME), LONGEST);
    return parseOrder(JSON.parse(text.toString()));
  } catch {
    return undefined;
  }
}

/** @throws {Error} `value` does not have the stored fields. */
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
    terminal: read('terminal', isSizeOrNothing),
    askedAt: read('askedAt', isNumber),
  };
}
