import { constants } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPrivate } from '../../support/directories/private-directory.js';
import { statePath } from '../../support/directories/state-directory.js';
import { hasCode, messageOf } from '../../support/errors.js';
import { HELD_ID, type HeldRecord, parseRecord, RECORD } from './record.js';

/** Bytes of a record: a path, and as many keys as a configuration has. */
const MOST_RECORD_BYTES = 1024 * 1024;

/** The parts of a held change that are files. */
type HeldPart = 'content' | 'before';

/** Returns the directory with the held changes of this user; undefined: the user has no home. */
export function heldDirectory(): string | undefined {
  const state = statePath();
  return state === undefined ? undefined : join(state, 'held');
}

/** A held change that can't be read, and why. */
interface Unreadable {
  readonly id: string;
  readonly reason: string;
}

/** All held changes of a directory. */
interface HeldList {
  /** The oldest first. */
  readonly records: readonly HeldRecord[];
  readonly unreadable: readonly Unreadable[];
}

/**
 * Reads all records in a directory; none, if it does not exist.
 *
 * @throws {Error} The directory belongs to another user, or is open to others; or the system's error.
 */
export async function listRecords(directory: string): Promise<HeldList> {
  const records: HeldRecord[] = [];
  const unreadable: Unreadable[] = [];
  for (const id of await idsIn(directory)) {
    try {
      const record = await heldRecord(directory, id);
      if (record !== undefined) records.push(record);
    } catch (error) {
      unreadable.push({ id, reason: messageOf(error) });
    }
  }
  records.sort((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));
  return { records, unreadable };
}

/**
 * Returns the ids of all held changes of a directory, also of those that can't be read.
 *
 * @throws {Error} The directory belongs to another user, or is open to others; or the system's error.
 */
export async function idsIn(directory: string): Promise<readonly string[]> {
  try {
    await checkPrivate(directory);
    // A change that is being written has another name until it is complete.
    return (await readdir(directory)).filter((name) => HELD_ID.test(name));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/**
 * Reads one record; undefined: nothing is held by that id.
 *
 * @throws {Error} The record is damaged; or the system's error.
 */
export async function heldRecord(directory: string, id: string): Promise<HeldRecord | undefined> {
  if (!HELD_ID.test(id)) return undefined;
  const bytes = await readUpTo(join(directory, id, RECORD), MOST_RECORD_BYTES);
  if (bytes === undefined) return undefined;
  if (bytes.length > MOST_RECORD_BYTES) throw new Error('the record is too long');
  return parseRecord(id, bytes);
}

/**
 * Reads the content that would be there, or that was there. Undefined: it was not kept.
 *
 * @param most The most bytes; of a longer one there is one byte more.
 */
export function partOf(
  directory: string,
  id: string,
  part: HeldPart,
  most: number,
): Promise<Uint8Array | undefined> {
  return readUpTo(join(directory, id, part), most);
}

/** Removes a held change, if it is still there. */
export async function removeRecord(directory: string, id: string): Promise<void> {
  await rm(join(directory, id), { recursive: true, force: true });
}

async function readUpTo(path: string, most: number): Promise<Uint8Array | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, most + 1));
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return bytes.subarray(0, length);
  } finally {
    await file.close();
  }
}
