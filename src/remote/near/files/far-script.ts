import type { LiveProcess } from '../../../faces/command.js';
import type { BytesChunk } from '../../../faces/engine.js';
import { hasCode } from '../../../support/errors.js';
import { PART_BYTES } from '../../wire/part-store.js';
import { FarFileError, farFileError } from './file-error.js';

/** Options of the commands by which files are reached. */
export interface ScriptOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Starts a program on a far side. */
export type StartThere = (
  command: readonly string[],
  options: ScriptOptions & { readonly stdin: 'null' | 'pipe' },
) => Promise<LiveProcess<BytesChunk>>;

/** The beginning of a script that goes into a directory, and tells why it can't. */
export const ENTER = `ls -d -- "$1" >/dev/null || exit 1
[ -d "$1" ] || { echo 'Not a directory' >&2; exit 1; }
[ -r "$1" ] && [ -x "$1" ] || { echo 'Permission denied' >&2; exit 1; }
cd -- "$1" || exit 1
`;

/** Bytes of what a program says on stderr that are kept. */
const MOST_SAID = 8192;

/** A text for `sh`, which is run where the files are: as a command is, with its rights, in its sandbox. */
interface FarScript {
  /** What it is about. */
  readonly path: string;
  readonly text: string;
  readonly args: readonly string[];
  /** What it reads. */
  readonly input?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/**
 * Runs a script, and yields what it prints.
 *
 * @throws {FarFileError} It has failed; what it said on stderr tells why.
 */
export async function* printedBy(
  start: StartThere,
  { path, text, args, input }: FarScript,
  options: ScriptOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const command = ['sh', '-c', `export LC_ALL=C; ${text}`, 'sh', ...args];
  const live = await start(command, { ...options, stdin: input === undefined ? 'null' : 'pipe' });
  // A failure to write shows in how the program ends.
  const feeding: Feeding = { failure: undefined, isOver: false };
  if (input !== undefined) void feed(live, input, feeding);
  let said = '';
  try {
    for await (const { stream, bytes } of live) {
      if (stream !== 'stderr') yield bytes;
      else if (said.length < MOST_SAID) said += Buffer.from(bytes).toString();
    }
    // The input may have no end: it is not waited for.
    const { outcome } = await live.result;
    if (outcome.kind === 'timedOut') throw new FarFileError(path, 'ETIMEDOUT', 'it took too long');
    options.signal?.throwIfAborted();
    if (feeding.failure !== undefined) throw feeding.failure.error;
    if (outcome.kind !== 'exited') throw farFileError(path, `${said} (${outcome.kind})`);
    if (outcome.exitCode !== 0) throw farFileError(path, said, outcome.exitCode);
  } finally {
    feeding.isOver = true;
    await live.kill();
  }
}

/** Runs a script that prints little. Returns that. */
export async function told(
  start: StartThere,
  script: FarScript,
  options: ScriptOptions,
): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const bytes of printedBy(start, script, options)) pieces.push(bytes);
  return Buffer.concat(pieces).toString();
}

/** How an input stands. */
interface Feeding {
  /** What its source has thrown. */
  failure: { readonly error: unknown } | undefined;
  /** Whether nothing takes it any more. */
  isOver: boolean;
}

/** Writes all of an input, unless the program wants no more; ends the program when the input's source fails. */
async function feed(
  live: LiveProcess<BytesChunk>,
  input: NonNullable<FarScript['input']>,
  feeding: Feeding,
): Promise<void> {
  try {
    // One is taken there while the next is on its way.
    let [one, other] = [Promise.resolve(), Promise.resolve()];
    for await (const part of partsOf(input, feeding)) {
      await one;
      one = other;
      other = live.write(part);
      other.catch(() => {});
    }
    await Promise.all([one, other]);
    live.end();
  } catch (error) {
    if (hasCode(error, 'EPIPE')) return;
    feeding.failure = { error };
    await live.kill();
  }
}

/** Yields the bytes in parts of that size, the last of which may be smaller. */
async function* partsOf(
  input: NonNullable<FarScript['input']>,
  feeding: Readonly<Feeding>,
): AsyncGenerator<Uint8Array, void, void> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (const given of input) {
    if (feeding.isOver) return;
    for (let at = 0; at < given.length; ) {
      const piece = given.subarray(at, at + PART_BYTES - size);
      at += piece.length;
      size += piece.length;
      pieces.push(piece);
      if (size < PART_BYTES) continue;
      yield Buffer.concat(pieces, size);
      pieces = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(pieces, size);
}
