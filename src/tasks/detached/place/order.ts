import { lstat, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TerminalSize } from '../../../options/terminal.js';
import { hasCode, messageOf } from '../../../support/errors.js';
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
  /** Why these options are not all known; absent: they are. */
  readonly trouble?: string;
}

const NAME = 'task.json';
const VERSION = 1;
/** For a command whose own is not known. */
const USUAL_GRACE_MS = 5000;
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

/**
 * Reads the stored options, as far as they can be read and trusted.
 *
 * @returns Undefined: there are none, since the command is being started, or its place removed.
 */
export async function lookAtOrder(directory: string): Promise<DetachedOrder | undefined> {
  let value: unknown;
  try {
    value = JSON.parse((await readOwnFile(join(directory, NAME), LONGEST)).toString());
    return parseOrder(value);
  } catch (error) {
    if (hasCode(error, 'ENOENT') && !(await isStarted(directory))) return undefined;
    const trouble = `its options (${join(directory, NAME)}) can't be read: ${messageOf(error)}`;
    return { ...rest(value), trouble };
  }
}

/** Returns whether a keeper has written its record there. */
function isStarted(directory: string): Promise<boolean> {
  return lstat(join(directory, 'output.state')).then(
    () => true,
    () => false,
  );
}

/** Returns what can be told of stored options in another format. */
function rest(value: unknown): DetachedOrder {
  const field = (name: string): unknown =>
    typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  const [command, cwd, askedAt] = [field('command'), field('cwd'), field('askedAt')];
  return {
    command: isText(command) ? command : '',
    cwd: isText(cwd) ? cwd : '',
    timeoutMs: undefined,
    graceMs: USUAL_GRACE_MS,
    outputQuota: 0,
    hasInput: false,
    terminal: undefined,
    askedAt: isNumber(askedAt) ? askedAt : 0,
  };
}

/** @throws {Error} `value` does not have the stored fields. */
function parseOrder(value: unknown): DetachedOrder {
  const read = keptFields<keyof DetachedOrder | 'version'>('order', value);
  const version = read('version', isNumber);
  if (version !== VERSION) {
    throw new Error(`it has version ${version}, this forkline reads version ${VERSION}`);
  }
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
