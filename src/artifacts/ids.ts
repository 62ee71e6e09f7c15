import { constants } from 'node:fs';
import { type FileHandle, link, readdir, rename, rm, writeFile } from 'node:fs/promises';
import type { HostDirectory } from '../support/directories/host-files.js';
import { hasCode } from '../support/errors.js';
import { randomBytes, uniqueName } from '../support/random.js';
import { COUNTER_NAME, draftName, parseName } from './names.js';

/**
 * The counter of a directory is a file: a header with the first id, then a record for each id that was
 * used. To take an id, a process appends a random record; the record's position is the id. So the cost
 * does not depend on the number of ids, and no two processes get the same id, without a lock that could
 * be left behind.
 */
const HEADER_BYTES = 16;
const RECORD_BYTES = 8;
/** The most records that one write skips. */
const SKIPPED_AT_ONCE = 128 * 1024;

/** The lowest id that may still be free, as far as this process knows. */
export interface IdFloor {
  next: number;
}

const floors = new Map<string, IdFloor>();

/**
 * Returns what this process remembers of a directory's ids, which go on even if the counter is removed.
 *
 * @param directory Undefined: no other store has the same.
 */
export function idFloor(directory: string | undefined): IdFloor {
  if (directory === undefined) return { next: 0 };
  const floor = floors.get(directory) ?? { next: 0 };
  floors.set(directory, floor);
  return floor;
}

/**
 * Takes the next id of a directory for good. Of several processes that ask at once each gets a different
 * id, and none gets one that was taken before a restart.
 */
export async function claimId(directory: HostDirectory, floor: IdFloor): Promise<number> {
  const least = floor.next;
  for (;;) {
    const counter = await openCounter(directory, least);
    try {
      const id = await appendRecord(counter, least);
      if (id === undefined) continue;
      floor.next = Math.max(floor.next, id + 1);
      return id;
    } finally {
      await counter.close();
    }
  }
}

/**
 * Appends a record and returns its id; undefined when the counter was removed meanwhile, and another one
 * replaces it.
 */
async function appendRecord(counter: FileHandle, least: number): Promise<number | undefined> {
  const header = Buffer.alloc(HEADER_BYTES);
  await counter.read(header, 0, HEADER_BYTES, 0);
  const first = Number(header.toString('latin1'));
  if (!Number.isSafeInteger(first)) throw new Error('the counter of artifact ids is damaged');
  for (let skipped = 0; ; ) {
    const record = randomBytes(RECORD_BYTES);
    const before = await counter.stat();
    await counter.write(Buffer.concat([Buffer.alloc(skipped * RECORD_BYTES), record]));
    const after = await counter.stat();
    if (after.nlink === 0) return undefined;
    const added = Buffer.alloc(after.size - before.size);
    await counter.read(added, 0, added.length, before.size);
    const place = added.indexOf(record);
    if (place === -1) continue;
    // Rounded up: a partial record that a crash left counts as one too.
    const id = first + Math.ceil((before.size + place - HEADER_BYTES) / RECORD_BYTES);
    if (id >= least) return id;
    skipped = Math.min(least - id - 1, SKIPPED_AT_ONCE);
  }
}

async function openCounter(directory: HostDirectory, least: number): Promise<FileHandle> {
  for (;;) {
    try {
      return await directory.open(COUNTER_NAME, constants.O_RDWR | constants.O_APPEND);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
    await makeCounter(directory, least);
  }
}

/** Creates the counter with its header in one step. */
async function makeCounter(directory: HostDirectory, least: number): Promise<void> {
  const first = Math.max(least, (await highestId(directory)) + 1);
  const path = directory.at(COUNTER_NAME);
  const draft = directory.at(draftName(`ids-${uniqueName()}`));
  const header = String(first).padEnd(HEADER_BYTES);
  await writeFile(draft, header, { flag: 'wx', mode: 0o600 });
  try {
    await link(draft, path);
  } catch (error) {
    // The file system has no hard links, or another process was faster.
    if (!hasCode(error, 'EEXIST')) await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Returns the highest id in use; -1 when there is none. */
async function highestId(directory: HostDirectory): Promise<number> {
  let highest = -1;
  for (const name of await readdir(directory.at('.'))) {
    const entry = parseName(name);
    if (entry !== undefined && 'id' in entry) highest = Math.max(highest, entry.id);
  }
  return highest;
}
