import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Not through a link, and without waiting for the other end of a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a file that no other user can have written.
 *
 * @throws The path is a link or no plain file, or the file belongs to another user or is open to others;
 * or the system's error.
 */
export async function openOwnFile(path: string): Promise<FileHandle> {
  const file = await open(path, FLAGS);
  try {
    const found = await file.stat();
    const uid = process.getuid?.();
    const isOwn = uid === undefined || found.uid === uid;
    if (!found.isFile() || !isOwn || (found.mode & 0o077) !== 0) {
      throw new Error(`${path}: expected a file of user ${uid}'s own, of mode 600`);
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Reads all of such a file.
 *
 * @throws As {@link openOwnFile}; or the file is longer than `maxBytes`.
 */
export async function readOwnFile(path: string, maxBytes: number): Promise<Buffer> {
  const file = await openOwnFile(path);
  try {
    const { size } = await file.stat();
    if (size > maxBytes)
      throw new Error(`${path}: expected at most ${maxBytes} bytes, got ${size}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
