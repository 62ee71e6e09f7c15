import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { toBytes } from '../../../faces/command.js';
import { isMissing, wholeFrom } from '../../../support/checks.js';
import { InputError, showValue } from '../../../support/errors.js';
import { type ScriptOptions, type StartThere, told } from './far-script.js';
import { FarFileError } from './file-error.js';

/** What is written: text, bytes, a file of this machine, or bytes that come, with `size`. */
export type FarContent =
  | string
  | Uint8Array
  | { readonly file: string }
  | AsyncIterable<Uint8Array>;

/** How a file is written. */
export interface FarWrite extends ScriptOptions {
  /** Its permissions, as a number of bits: `0o755`. Default: those of the file that is replaced, else `0o666` without the umask. */
  readonly mode?: number | undefined;
  /** The number of bytes; only for bytes that come, where it must be known: fewer or more are not written. */
  readonly size?: number | undefined;
  /** Makes the directories above it. Default: true. */
  readonly makeDirectories?: boolean | undefined;
  /** Refuses to replace a file, by `EEXIST`. Default: false. */
  readonly ifAbsent?: boolean | undefined;
}

/** The exit code of a script that has got other bytes than it should have. */
const CUT = 65;

/**
 * Written beside its place, compared, and then renamed: nobody sees a part of it, and if the line breaks nothing of it
 * stays. A link is followed, as everywhere.
 */
const WRITE = `f=$1 size=$2 sum=$3 mode=$4 parents=$5 absent=$6
[ ! -L "$f" ] || f=$(readlink -f -- "$f") || exit 1
case $f in */*) d=\${f%/*}/ ;; *) d=./ ;; esac
[ "$parents" = 0 ] || mkdir -p -- "$d" || exit 1
if [ -d "$f" ]; then echo "Is a directory" >&2; exit 1; fi
if [ "$absent" = 1 ] && [ -e "$f" ]; then echo "File exists" >&2; exit 1; fi
t=$d.forkline-write-$$
trap 'rm -f -- "$t"' EXIT; trap 'rm -f -- "$t"; exit 1' HUP INT TERM
(umask 077 && set -C && : >"$t") || exit 1
cat >>"$t" || exit 1
[ "$(wc -c <"$t")" -eq "$size" ] || exit ${CUT}
if [ "$sum" != - ] && command -v sha256sum >/dev/null; then
  set -- $(sha256sum <"$t"); [ "$1" = "$sum" ] || exit ${CUT}
fi
if [ "$mode" = - ] && [ -e "$f" ]; then mode=$(stat -c %a -- "$f") || exit 1; fi
if [ "$mode" = - ]; then mode=$(printf %o $((0666 & ~0$(umask)))); fi
chmod "$mode" -- "$t" || exit 1
if [ "$absent" = 1 ]; then ln -- "$t" "$f"; else mv -f -- "$t" "$f"; fi`;

/**
 * Writes a file, whole or not at all.
 *
 * @throws {InputError} `data` or an option is not valid.
 * @throws {FarFileError} It can't be written.
 */
export async function writeWhole(
  start: StartThere,
  path: string,
  data: FarContent,
  { mode, size, makeDirectories, ifAbsent, ...options }: FarWrite,
): Promise<void> {
  const content = await contentOf(data, size);
  const permissions = isMissing(mode) ? '-' : wholeFrom('mode', 0, mode, 0o7777).toString(8);
  const flags = [makeDirectories === false ? '0' : '1', ifAbsent === true ? '1' : '0'];
  const args = [path, String(content.size), content.sum, permissions, ...flags];
  try {
    await told(start, { path, text: WRITE, args, input: content.bytes }, options);
  } catch (error) {
    throw error instanceof FarFileError && error.exitCode === CUT
      ? new FarFileError(
          path,
          'ECUT',
          `other bytes arrived than ${content.size}, nothing was changed`,
        )
      : error;
  }
}

interface SizedContent {
  readonly size: number;
  /** In hexadecimal; `-`: not known. */
  readonly sum: string;
  readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

async function contentOf(data: unknown, size: number | undefined): Promise<SizedContent> {
  if (typeof data === 'string' || data instanceof Uint8Array) {
    const bytes = toBytes(data);
    const sum = createHash('sha256').update(bytes).digest('hex');
    return { size: bytes.length, sum, bytes: [bytes] };
  }
  if (isFile(data)) {
    const sum = createHash('sha256');
    for await (const bytes of createReadStream(data.file)) sum.update(bytes);
    const { size } = await stat(data.file);
    return { size, sum: sum.digest('hex'), bytes: createReadStream(data.file) };
  }
  if (!isIterable(data)) {
    throw new InputError(
      `data: expected text, bytes, { file }, or an iterable of bytes, got ${showValue(data)}`,
    );
  }
  if (size === undefined) {
    throw new InputError('size: expected the number of bytes, since data is an iterable');
  }
  return { size: wholeFrom('size', 0, size), sum: '-', bytes: data };
}

function isFile(data: unknown): data is { readonly file: string } {
  return typeof data === 'object' && data !== null && typeof Reflect.get(data, 'file') === 'string';
}

function isIterable(data: unknown): data is AsyncIterable<Uint8Array> {
  return typeof data === 'object' && data !== null && Symbol.asyncIterator in data;
}
