import type { TaskSubject } from '../subject.js';

const NEWLINE = 0x0a;
const READ_BYTES = 64 * 1024;
/** The most output that is read in order to count its lines. */
const MOST_COUNTED = 32 * 1024 * 1024;

/** A piece of a task's output. */
interface KeptPiece {
  /** Position of the first byte. */
  readonly from: number;
  bytes: Uint8Array;
}

/** Reads the output between two positions, as far as it is kept: a piece more after each gap. */
export async function readStretch(
  subject: TaskSubject,
  from: number,
  to: number,
): Promise<readonly KeptPiece[]> {
  const pieces: KeptPiece[] = [];
  for (let at = from; at < to; ) {
    const read = await subject.read(at, Math.min(to - at, READ_BYTES));
    const bytes = read.bytes.subarray(0, Math.max(0, to - read.from));
    if (bytes.length === 0) break;
    const last = pieces.at(-1);
    // A character may begin in one part and end in the next.
    if (last !== undefined && read.from === at) last.bytes = Buffer.concat([last.bytes, bytes]);
    else pieces.push({ from: read.from, bytes });
    at = read.from + bytes.length;
  }
  return pieces;
}

/**
 * Counts the newlines between two positions.
 *
 * @returns Undefined: a part is not kept, or there is too much to read.
 */
export async function newlinesBetween(
  subject: TaskSubject,
  from: number,
  to: number,
): Promise<number | undefined> {
  if (to - from > MOST_COUNTED) return undefined;
  let count = 0;
  for (let at = from; at < to; ) {
    const read = await subject.read(at, Math.min(to - at, READ_BYTES));
    if (read.from !== at || read.bytes.length === 0) return undefined;
    count += newlinesIn(read.bytes.subarray(0, to - at));
    at += read.bytes.length;
  }
  return count;
}

/** Counts the newlines of output. */
export function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
