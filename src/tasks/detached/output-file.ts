import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../support/errors.js';
import type { OutputStretch } from '../subject.js';
import { openOwnFile } from './place/own-file.js';

const NONE = Buffer.alloc(0);

/** How often files are looked up again that were removed meanwhile, since their command prints on. */
const MOST_LOOKS = 5;

/** The positions of an output that is longer than its limit: see native/keeper/src/detached/store.rs. */
interface OutputParts {
  /** The length of the first part, in the output's own file; undefined: all of the output is there. */
  readonly first: number | undefined;
  /** Where the pieces of the last part begin, in order. */
  readonly pieces: readonly number[];
}

const NAME = /^output\.(first|last)-(\d{16,20})$/;

/** Returns the name of the piece that begins at a position. */
const pieceAt = (start: number): string => `output.last-${String(start).padStart(16, '0')}`;

/** Whether more output changes the file with this name. */
export function hasOutput(name: string): boolean {
  return name === 'output' || NAME.test(name);
}

/**
 * Reads a command's output from `since` on, at most `maxBytes`. Of an output that is longer than its limit,
 * the middle is missing: the stretch before it ends there, and the next one begins after it. Missing files count
 * as empty.
 *
 * @param path The output's own file.
 * @throws The file is not the user's own, or the system's error.
 */
export async function readOutputFile(
  path: string,
  since: number,
  maxBytes: number,
): Promise<OutputStretch> {
  for (let look = 1; ; look += 1) {
    const { isStale, ...stretch } = await readParts(path, since, maxBytes);
    if (!isStale || look === MOST_LOOKS) return stretch;
  }
}

/** `isStale`: a piece was removed after it had been looked up, since its command prints on. */
async function readParts(
  path: string,
  since: number,
  maxBytes: number,
): Promise<OutputStretch & { readonly isStale: boolean }> {
  const whole = await readPart(path, since, maxBytes);
  // Looked up afterwards: the file's text for people, which is not output, comes after the mark.
  const { first, pieces } = await findParts(dirname(path));
  const head = Math.min(first ?? Infinity, whole?.size ?? 0);
  const beginning = (whole?.bytes ?? NONE).subarray(0, Math.max(0, head - since));
  const taken = [beginning];
  let count = beginning.length;
  let at = since + count;
  let from = Math.min(since, head);
  let total = head;
  let isStale = false;
  for (const start of pieces) {
    const begin = Math.max(at, start);
    const isAfterGap = count > 0 && start > at;
    const room = isAfterGap ? 0 : maxBytes - count;
    const piece = await readPart(join(dirname(path), pieceAt(start)), begin - start, room);
    if (piece === undefined) isStale ||= count === 0;
    else total = Math.max(total, start + piece.size);
    if (piece === undefined || piece.bytes.length === 0) continue;
    if (count === 0) from = begin;
    taken.push(piece.bytes);
    count += piece.bytes.length;
    at = begin + piece.bytes.length;
  }
  // All to the end is missing, if anything was asked for; past the end nothing is.
  if (count === 0) from = maxBytes > 0 ? total : Math.min(since, total);
  return { bytes: taken.length === 1 ? beginning : Buffer.concat(taken), from, total, isStale };
}

/** A part of an output that was not kept, since the output is longer than its limit. Sizes in bytes. */
export interface OutputGap {
  /** The position of the first missing byte. */
  readonly at: number;
  /** How many bytes are missing there. */
  readonly bytes: number;
}

/** Returns the part of an output that is missing so far; undefined: none is. */
export async function findGap(path: string): Promise<OutputGap | undefined> {
  const { first, pieces } = await findParts(dirname(path));
  const [next] = pieces;
  if (first === undefined || next === undefined || next <= first) return undefined;
  return { at: first, bytes: next - first };
}

/** Reads a part of one file, and its size; undefined: it is not there. */
async function readPart(
  path: string,
  position: number,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly size: number } | undefined> {
  let file: Awaited<ReturnType<typeof openOwnFile>>;
  try {
    file = await openOwnFile(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.max(0, Math.min(maxBytes, size - position)));
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(
        buffer,
        length,
        buffer.length - length,
        position + length,
      );
      // The file was truncated meanwhile.
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return { bytes: buffer.subarray(0, length), size };
  } finally {
    await file.close();
  }
}

async function findParts(directory: string): Promise<OutputParts> {
  const pieces: number[] = [];
  let first: number | undefined;
  for (const name of await readdir(directory).catch(() => [])) {
    const [, kind, position] = NAME.exec(name) ?? [];
    if (kind === 'first') first = Number(position);
    else if (kind === 'last') pieces.push(Number(position));
  }
  return { first, pieces: pieces.sort((one, other) => one - other) };
}
