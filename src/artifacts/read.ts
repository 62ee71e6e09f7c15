import { constants } from 'node:fs';
import { isMissing, type OptionNames, readOptions } from '../support/checks.js';
import { openHostFile } from '../support/directories/host-files.js';
import { InputError, showValue } from '../support/errors.js';
import type { ArtifactRange } from './store.js';

const RANGE_NAMES: OptionNames<ArtifactRange> = { unit: true, start: true, end: true };

/**
 * Reads a file, or a part of it; a range may reach past the end.
 *
 * @throws {InputError} The range is not valid.
 */
export async function readRange(path: string, given?: ArtifactRange): Promise<Uint8Array> {
  if (isMissing(given)) return readBytes(path, 0);
  const range = readOptions('range', given, RANGE_NAMES, { within: 'range.' });
  const first = range.unit === 'lines' ? 1 : 0;
  checkBound('start', range.start, first);
  if (range.end !== undefined) checkBound('end', range.end, range.start);
  if (range.unit === 'bytes') return readBytes(path, range.start, range.end);
  return readLines(path, range.start, range.end ?? Number.POSITIVE_INFINITY);
}

function checkBound(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  const expected = `a whole number of ${least} or more`;
  throw new InputError(`range.${name}: expected ${expected}, got ${showValue(value)}`);
}

async function readBytes(path: string, start: number, end?: number): Promise<Uint8Array> {
  const file = await openHostFile(path, constants.O_RDONLY);
  try {
    const { size } = await file.stat();
    const length = Math.max(0, Math.min(end ?? size, size) - start);
    const buffer = Buffer.alloc(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await file.read(buffer, filled, length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  } finally {
    await file.close();
  }
}

const NEWLINE = 10;

async function readLines(path: string, start: number, end: number): Promise<Uint8Array> {
  const kept: Buffer[] = [];
  let line = 1;
  const file = await openHostFile(path, constants.O_RDONLY);
  for await (const chunk of file.createReadStream() as AsyncIterable<Buffer>) {
    let from = line >= start ? 0 : -1;
    let at = 0;
    let to = chunk.length;
    while (at < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, at);
      if (newline === -1) break;
      at = newline + 1;
      line += 1;
      if (line === start) from = at;
      if (line > end) {
        to = at;
        break;
      }
    }
    if (from !== -1) kept.push(chunk.subarray(from, to));
    if (line > end) break;
  }
  return Buffer.concat(kept);
}
