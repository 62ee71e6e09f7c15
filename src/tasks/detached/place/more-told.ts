import { join } from 'node:path';
import { hasCode } from '../../../support/errors.js';
import { readOwnFile } from './own-file.js';

/** The most bytes that a keeper writes, and some more. */
const LONGEST = 2 * 1024 * 1024;

/** What a keeper was told of a command's sandbox beyond the room in its record. */
interface MoreTold {
  /** The record's words, and further ones like them: what was signed, what was held back, and programs. */
  readonly words: readonly string[];
  /** What is missing, in words. */
  readonly unseen: readonly string[];
}

const KINDS: Readonly<Record<string, string>> = {
  signed: 'signatures',
  held: 'changes that were held back',
  port: 'published ports',
};

/**
 * Reads what has no room in a record: the file beside the output, to which its keeper writes it.
 *
 * @param record The record's words about the sandbox; `lost=signed,3` is how much could be written nowhere.
 */
export async function readMoreTold(directory: string, record: string): Promise<MoreTold> {
  const all = record.split(' ');
  const unseen = all.flatMap((word) => {
    const [, kind = '', count] = /^lost=(\w+),(\d+)$/.exec(word) ?? [];
    return count === undefined ? [] : `there was no room for ${count} more ${KINDS[kind] ?? kind}`;
  });
  const words = all.filter((word) => !word.startsWith('lost='));
  try {
    const text = (await readOwnFile(join(directory, 'output.told'), LONGEST)).toString();
    words.push(...text.split('\n').filter((line) => /^(?:signed|held|exec|undo)=\S+$/.test(line)));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) unseen.push(UNREADABLE);
  }
  return { words, unseen };
}

const UNREADABLE =
  'what had no room in its record could not be had: there may be more signatures, changes that were held back, and programs';
