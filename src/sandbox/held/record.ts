import type { HeldChange } from '../../engine/sandbox-report.js';

/** A held change as the process beside the sandbox has written it down. */
export interface HeldRecord extends HeldChange {
  /** What would be there: a file, a symbolic link, or nothing. */
  readonly what: 'file' | 'link' | 'removal';
  /** The permissions of the file. */
  readonly mode: number;
  /** Device, inode, size and time of the file that was there; undefined: there was none. */
  readonly before: string | undefined;
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
 * @throws {Error} It is of another version, damaged, or its path is not UTF-8.
 */
export function parseRecord(id: string, bytes: Uint8Array): HeldRecord {
  const fields = decode(bytes).split('\0');
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
  return {
    id,
    path,
    what: oneOf(WHATS, only('what')),
    reason: oneOf(REASONS, only('reason')),
    at: numberIn(only('at'), 10),
    // A program that gains its owner's rights is none that a command makes for the user.
    mode: numberIn(only('mode'), 8) & 0o777,
    before: before === 'none' ? undefined : before,
    ...(keys.length > 0 && { keys }),
  };
}

/** Returns whether a path is absolute, names something in a directory, and has no part that leads back. */
function isPlainPath(path: string): boolean {
  const [root, ...names] = path.split('/');
  return root === '' && names.every((name) => name !== '' && name !== '.' && name !== '..');
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('the record has a name that is not UTF-8');
  }
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
