import { ENTER, printedBy, type ScriptOptions, type StartThere, told } from './far-script.js';

const REMOVE = `f=$1
[ -e "$f" ] || [ -L "$f" ] || exec ls -d -- "$f"
if [ "$2" = 1 ]; then exec rm -rf -- "$f"; fi
if [ -d "$f" ] && [ ! -L "$f" ]; then exec rmdir -- "$f"; fi
exec rm -f -- "$f"`;
const PACK = `${ENTER}exec tar -cf - "$2" .`;
/** Owners are whoever unpacks it, and none gets the rights of another user: without the option, root's would. */
const UNPACK = `mkdir -p -- "$1" || exit 1
${ENTER}exec tar -xo"$2" --no-same-permissions -f -`;

/** Removes something. */
export async function removeThere(
  start: StartThere,
  path: string,
  recursive: boolean,
  options: ScriptOptions,
): Promise<void> {
  await told(start, { path, text: REMOVE, args: [path, recursive ? '1' : '0'] }, options);
}

/** Yields a directory as an archive of `tar`. */
export function packed(
  start: StartThere,
  path: string,
  gzip: boolean,
  options: ScriptOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const args = [path, gzip ? '-z' : '--'];
  return printedBy(start, { path, text: PACK, args }, options);
}

/** Unpacks an archive of `tar` into a directory, which is made. */
export async function unpackThere(
  start: StartThere,
  path: string,
  archive: Uint8Array | AsyncIterable<Uint8Array>,
  options: ScriptOptions,
): Promise<void> {
  const pieces = archive instanceof Uint8Array ? once(archive) : archive;
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  const input = resumed(first, iterator);
  const args = [path, !first.done && isGzip(first.value) ? 'z' : ''];
  await told(start, { path, text: UNPACK, args, input }, options);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes;
}

async function* resumed(
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value;
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}
