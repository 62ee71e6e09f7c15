import type { TaskSubject } from './subject.js';

/** The output of a task from a cursor on. */
export interface TaskOutput {
  /** The new output, decoded as UTF-8. */
  readonly text: string;
  /** The cursor for the next read: bytes from the start of the output. */
  readonly cursor: number;
  /** Bytes between the given cursor and the text that are no longer kept. */
  readonly missedBytes: number;
  /** Bytes printed so far. */
  readonly total: number;
}

/** Returns whether a byte continues a UTF-8 character. */
const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

/**
 * Reads output from a cursor on, at most `maxBytes`. A character is not split: its first bytes wait for
 * the rest, unless the output has ended.
 */
export async function readOutput(
  subject: TaskSubject,
  since: number,
  maxBytes: number,
): Promise<TaskOutput> {
  const isRunning = subject.state.kind === 'running';
  const { bytes, from, total } = await subject.read(since, maxBytes);
  const isLast = from + bytes.length >= total;
  const first = from > since ? firstWhole(bytes) : 0;
  // Before a gap the rest of a character never comes.
  const isBeforeGap = !isLast && bytes.length < maxBytes;
  const end = (isLast && !isRunning) || isBeforeGap ? bytes.length : lastWhole(bytes);
  const text = Buffer.from(bytes.subarray(first, Math.max(first, end))).toString('utf8');
  return { text, cursor: from + Math.max(first, end), missedBytes: from + first - since, total };
}

export function firstWhole(bytes: Uint8Array): number {
  let first = 0;
  while (first < 3 && isContinuation(bytes[first])) first += 1;
  return first;
}

/** Returns where an incomplete last character begins. */
export function lastWhole(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
