import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import {
  chmod,
  chown,
  lchown,
  lstat,
  open,
  readFile,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { HeldDirectory } from '../../support/directories/held-directory.js';
import { hasCode } from '../../support/errors.js';
import { merged } from './merge.js';
import { holdPlace } from './place.js';
import type { HeldRecord } from './record.js';
import { partOf } from './store.js';

/** Bytes of a file that was there, as far as the process beside the sandbox keeps them. */
const MOST_BEFORE_BYTES = 1024 * 1024;

/** A place for a change: its directory, which is held, and what is there. */
interface PutPlace {
  readonly held: HeldDirectory;
  /** The path for system calls. */
  readonly path: string;
  /** Undefined: there is nothing. */
  readonly there: BigIntStats | undefined;
}

/**
 * Puts a change in place, unless what is there has changed meanwhile and the change does not fit any more.
 *
 * @param directory The directory with the held changes.
 * @throws {Error} The path is not UTF-8; or the system's error.
 */
export async function put(directory: string, record: HeldRecord): Promise<'put' | 'conflict'> {
  if (!record.isNamed) {
    const content = join(directory, record.id, 'content');
    throw new Error(
      `${record.path}: the name is not UTF-8, and no program is put there (${content} would be)`,
    );
  }
  const held = await holdPlace(record);
  if (held === undefined) return 'conflict';
  try {
    const path = held.at(basename(record.path));
    const there = await lookAt(path);
    const content = await contentFor(directory, record, path, there);
    if (content === undefined) return 'conflict';
    await putAt(record, content, { held, path, there });
    return 'put';
  } catch (error) {
    // A directory has come to the place, or a file in a directory that was to be removed.
    if (CONFLICTS.some((code) => hasCode(error, code))) return 'conflict';
    throw error;
  } finally {
    await held.close();
    await rm(join(directory, record.id, MERGED), { force: true });
  }
}

const CONFLICTS = ['EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'ELOOP', 'ENOENT'];

/** Name of the file with a merged content, in the directory of a held change. */
const MERGED = 'merged';

/** Returns the path of the file that has what is to be put in place; undefined: the change does not fit. */
async function contentFor(
  directory: string,
  record: HeldRecord,
  path: string,
  there: BigIntStats | undefined,
): Promise<string | undefined> {
  const content = join(directory, record.id, 'content');
  if (await isAsBefore(directory, record, path, there)) return content;
  if (record.what !== 'file' || there === undefined) return undefined;
  const now = await contentAt(path, there);
  const made = now && (await merged(directory, record, now));
  const later = await lookAt(path);
  if (made === undefined || later === undefined || statusOf(later) !== statusOf(there)) {
    return undefined;
  }
  const staged = join(directory, record.id, MERGED);
  await rm(staged, { force: true });
  await writeFile(staged, made, { flag: 'wx', mode: 0o600 });
  return staged;
}

async function lookAt(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Returns whether the same file is there as before, or one of the same content. */
async function isAsBefore(
  directory: string,
  { id, before }: HeldRecord,
  path: string,
  there: BigIntStats | undefined,
): Promise<boolean> {
  if (before === undefined || there === undefined) return before === there;
  if (before === statusOf(there)) return true;
  const was = await partOf(directory, id, 'before', MOST_BEFORE_BYTES);
  if (was === undefined || BigInt(was.length) !== there.size) return false;
  const now = await contentAt(path, there);
  return now !== undefined && Buffer.compare(now, was) === 0;
}

/** Returns what tells a file, and its content, from another one: as it is written in a record. */
function statusOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

/** Reads the file that is there; undefined: it is none, too long, or another one by now. */
async function contentAt(path: string, there: BigIntStats): Promise<Buffer | undefined> {
  if (!there.isFile() || there.size > MOST_BEFORE_BYTES) return undefined;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    // What is open by now may be another one.
    const found = await file.stat({ bigint: true });
    if (!found.isFile() || found.size !== there.size) return undefined;
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** @param content Path of the file with the content, or with the target of a link. */
async function putAt(record: HeldRecord, content: string, place: PutPlace): Promise<void> {
  const { path, there } = place;
  switch (record.what) {
    case 'removal':
      await (there?.isDirectory() ? rmdir(path) : unlink(path));
      return;
    case 'link':
      await putLink(join(dirname(content), 'put'), await readFile(content), place);
      return;
    case 'file':
      await putFile(content, record.mode, place);
  }
}

/**
 * Puts a file by renaming the one that is held: it lies where no command can open it. A file that was made
 * beside the place could be opened by a command that still runs, and written to when it is in effect.
 */
async function putFile(content: string, mode: number, place: PutPlace): Promise<void> {
  await chmod(content, mode);
  const owner = await otherOwner(place);
  if (owner !== undefined) await chown(content, owner.uid, owner.gid);
  const file = await open(content, constants.O_RDONLY);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await rename(content, place.path);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await writeFileThere(await readFile(content), mode, owner, place);
  }
}

/** Writes the file at its place, which commands can't open for writing, on another file system. */
async function writeFileThere(
  bytes: Uint8Array,
  mode: number,
  owner: FileOwner | undefined,
  { path, there }: PutPlace,
): Promise<void> {
  const isAlone = there?.isFile() === true && there.nlink === 1n;
  // Another name of the file would get the content, too.
  if (there !== undefined && !isAlone) await unlink(path);
  const how = isAlone ? 0 : constants.O_CREAT | constants.O_EXCL;
  const flags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | how;
  const file = await open(path, flags, mode);
  try {
    await file.truncate(0);
    await file.writeFile(bytes);
    if (owner !== undefined) await file.chown(owner.uid, owner.gid);
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function putLink(staged: string, target: Uint8Array, place: PutPlace): Promise<void> {
  const { path, there } = place;
  const owner = await otherOwner(place);
  await rm(staged, { force: true });
  await symlink(Buffer.from(target), staged);
  try {
    if (owner !== undefined) await lchown(staged, owner.uid, owner.gid);
    await rename(staged, path);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    if (there !== undefined) await unlink(path);
    await symlink(Buffer.from(target), path);
    if (owner !== undefined) await lchown(path, owner.uid, owner.gid);
  } finally {
    await rm(staged, { force: true });
  }
}

/** A user and a group, by their numbers. */
interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Returns the owner of what is there, or of the directory, for root, whose files would be root's. */
async function otherOwner({ held, there }: PutPlace): Promise<FileOwner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = there ?? (await lstat(held.at('.')));
  return { uid: Number(uid), gid: Number(gid) };
}
