import { hasCode } from '../../support/errors.js';
import type { OutputStretch } from '../subject.js';
import { openOwnFile } from './place/own-file.js';

const NONE = Buffer.alloc(0);

/**
 * Reads a command's output file from `since` on, at most `maxBytes`. A missing file counts as empty.
 *
 * @throws The file is not the user's own, or the system's error.
 */
export async function readOutputFile(
  path: string,
  since: number,
  maxBytes: number,
): Promise<OutputStretch> {
  let file: Awaited<ReturnType<typeof openOwnFile>>;
  try {
    file = await openOwnFile(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { bytes: NONE, from: 0, total: 0 };
    throw error;
  }
  try {
    const total = (await file.stat()).size;
    const from = Math.min(since, total);
    const buffer = Buffer.alloc(Math.max(0, Math.min(maxBytes, total - from)));
    let size = 0;
    while (size < buffer.length) {
      const { bytesRead } = await file.read(buffer, size, buffer.length - size, from + size);
      // The file was truncated meanwhile.
      if (bytesRead === 0) break;
      size += bytesRead;
    }
    return { bytes: buffer.subarray(0, size), from, total };
  } finally {
    await file.close();
  }
}
