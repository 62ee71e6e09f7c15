import { wholeFrom } from '../../../support/checks.js';
import { printedBy, type ScriptOptions, type StartThere } from './far-script.js';
import { FarFileError } from './file-error.js';

/** Which bytes of a file are read. */
export interface FarRange extends ScriptOptions {
  /** The first byte. Default: 0. */
  readonly offset?: number | undefined;
  /** How many bytes at most. Default: all. */
  readonly length?: number | undefined;
}

/** What waits for ever when it is opened is not. A directory is one that `cat` tells of. */
const READ = `f=$1 o=$2 n=$3
if [ -p "$f" ] || [ -S "$f" ]; then echo "it is no file" >&2; exit 1; fi
if [ "$o" = 0 ] && [ "$n" = - ]; then exec cat -- "$f"; fi
[ -r "$f" ] && [ ! -d "$f" ] || exec cat -- "$f"
if [ "$n" = - ]; then exec tail -c "+$((o + 1))" -- "$f"; fi
tail -c "+$((o + 1))" -- "$f" | head -c "$n"`;

/** Yields the bytes of a file. */
export function readStream(
  start: StartThere,
  path: string,
  { offset = 0, length, ...options }: FarRange,
): AsyncGenerator<Uint8Array, void, void> {
  const from = wholeFrom('offset', 0, offset);
  const most = length === undefined ? '-' : wholeFrom('length', 1, length);
  return printedBy(start, { path, text: READ, args: [path, String(from), String(most)] }, options);
}

/**
 * Reads a file.
 *
 * @throws {FarFileError} It can't be read, or has more bytes: `ETOOLARGE`.
 */
export async function readWhole(
  start: StartThere,
  path: string,
  maxBytes: number,
  range: FarRange,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of readStream(start, path, range)) {
    size += bytes.length;
    if (size > maxBytes) {
      const why = `it has more than ${maxBytes} bytes: read it by readStream(), or in parts`;
      throw new FarFileError(path, 'ETOOLARGE', why);
    }
    pieces.push(bytes);
  }
  return Buffer.concat(pieces, size);
}
