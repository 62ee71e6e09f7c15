import { posix } from 'node:path';
import type { HeldChange } from '../../engine/sandbox-report.js';

/** A held change as the process beside the sandbox has written it down. */
export interface HeldRecord extends HeldChange {
  /** What would be there: a file, a symbolic link, or nothing. */
  readonly what: 'file' | 'link' | 'removal';
  /** The permissions of the file. */
  readonly mode: number;
  /** Device, inode, size and time of the file that was there; undefined: there was none. */
  readonly before: string | undefined;
  /** Whether the path is UTF-8; if not, `path` is only for people. */
  readonly isNamed: boolean;
  /** The first directory that the sandbox's commands wrote to; undefined: not known. */
  readonly workspace: string | undefined;
  /** The directory of the change, or the nearest one above it that existed; undefined: not known. */
  readonly base: HeldBase | undefined;
}

/** A directory that can be told from a later one at the same path. */
interface HeldBase {
  readonly path: string;
  /** Device and inode, and nanoseconds of the time at which it was made, if known: `2049:131:1700000000000000000`. */
  readonly identity: string;
}

/** Name of the file with the record, in the directory of a held change. */
export const RECORD = 'record';

/** The id of a held change, which is also the name of its directory. */
export const HELD_ID = /^[\da-f]{16}$/;

const VERSION = '1';
const WHATS = ['file', 'link', 'removal'] as const;
const REASONS = ['setting', 'unknown-content', 'removal'] as const;

/**
 * Reads a record: pairs of a word and a value, each ended by NUL.
 *
 * @throws {Error} It is of another version, or damaged.
 */
export function parseRecord(id: string, bytes: Uint8Array): HeldRecord {
  const { text, isUtf8 } = decode(bytes);
  const fields = text.split('\0');
  if (fields.pop() !== '' || fields.length % 2 !== 0) throw new Error('the record is not whole');
  const valuesOf = (word: string): readonly string[] =>
    fields.filter((_, index) => index % 2 === 1 && fields[index - 1] === word);
  const only = (word: string): string => {
    const [value] = valuesOf(word);
    if (value === undefined) throw new Error(`the record has no ${word}`);
    return value;
  };
  const version = only('version');
  if (version !== VERSION) throw new Error(`the record is of version ${version}`);
  const path = only('path');
  if (!isPlainPath(path)) throw new Error('the record has no absolute path');
  const before = only('before');
  const keys = valuesOf('key');
  const [workspace = ''] = valuesOf('workspace');
  return {
    id,
    path,
    what: oneOf(WHATS, only('what')),
    reason: oneOf(REASONS, only('reason')),
    at: numberIn(only('at'), 10),
    // A program that gains its owner's rights is none that a command makes for the user.
    mode: numberIn(only('mode'), 8) & 0o777,
    before: before === 'none' ? undefined : before,
    isNamed: isUtf8 || !path.includes('\ufffd'),
    workspace: workspace === '' ? undefined : workspace,
    base: baseOf(path, valuesOf('base'), valuesOf('directory')),
    ...(keys.length > 0 && { keys }),
  };
}

/** Returns whether a path is absolute, names something in a directory, and has no part that leads back. */
function isPlainPath(path: string): boolean {
  const [root, ...names] = path.split('/');
  return root === '' && names.every((name) => name !== '' && name !== '.' && name !== '..');
}

/** @throws {Error} The directory is none above the change, or no identity. */
function baseOf(
  of: string,
  [path]: readonly string[],
  [identity]: readonly string[],
): HeldBase | undefined {
  if (path === undefined || identity === undefined) return undefined;
  const isAbove = path === '/' || (isPlainPath(path) && of.startsWith(`${path}/`));
  if (!isAbove || !/^\d+:\d+(?::\d+)?$/.test(identity)) {
    throw new Error(`the record has no directory of ${posix.basename(of)}`);
  }
  return { path, identity };
}

/** Decodes the bytes; in place of those that are not UTF-8 there is U+FFFD. */
function decode(bytes: Uint8Array): { readonly text: string; readonly isUtf8: boolean } {
  const text = Buffer.from(bytes).toString();
  return { text, isUtf8: Buffer.compare(Buffer.from(text), bytes) === 0 };
}

function oneOf<Word extends string>(words: readonly Word[], given: string): Word {
  const word = words.find((one) => one === given);
  if (word === undefined) throw new Error(`the record has an unknown word: ${given}`);
  return word;
}

function numberIn(text: string, base: 8 | 10): number {
  const digits = base === 8 ? /^[0-7]{1,6}$/ : /^\d{1,15}$/;
  if (!digits.test(text)) throw new Error(`the record has ${text} in place of a number`);
  return Number.parseInt(text, base);
}
