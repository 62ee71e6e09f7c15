import { wholeFrom } from '../../../support/checks.js';
import { ENTER, printedBy, type ScriptOptions, type StartThere } from './far-script.js';

/** Something in a directory of a far side. */
export interface FarEntry {
  /** Its path in the directory. */
  readonly path: string;
  /** What it is: `other` is a socket, a FIFO or a device. */
  readonly type: 'file' | 'directory' | 'link' | 'other';
  /** Its size, in bytes. */
  readonly size: number;
  /** Its permissions, as a number of bits: `0o644`. */
  readonly mode: number;
  /** When its content was last changed, in seconds since 1970. */
  readonly modified: number;
}

/** What is in a directory. */
export interface FarListing {
  /** What was found, sorted by path. */
  readonly entries: readonly FarEntry[];
  /** Whether there is more than was asked for. */
  readonly isCut: boolean;
}

/** How a directory is listed. */
export interface FarList extends ScriptOptions {
  /** Lists what is in directories in it, too. Default: false. */
  readonly recursive?: boolean | undefined;
  /** The number of entries at most. Default: 10,000. */
  readonly max?: number | undefined;
}

const NAMES = `${ENTER}set -- "$2"
if [ "$1" = all ]; then exec find . -mindepth 1 -print0; fi
exec find . -mindepth 1 -maxdepth 1 -print0`;
/** What has gone meanwhile is left out. */
const STATUS = `cd -- "$1" && xargs -0 stat -c '%f %s %Y %n' -- 2>/dev/null; exit 0`;

const KINDS: ReadonlyMap<number, FarEntry['type']> = new Map([
  [0o100000, 'file'],
  [0o040000, 'directory'],
  [0o120000, 'link'],
]);

/** Lists a directory, sorted by path. */
export async function listDirectory(
  start: StartThere,
  path: string,
  { recursive, max, ...options }: FarList,
): Promise<FarListing> {
  const most = wholeFrom('max', 1, max ?? 10_000);
  const names = await namesIn(start, path, { recursive, most }, options);
  const isCut = names.length > most;
  const kept = names.slice(0, most);
  if (kept.length === 0) return { entries: [], isCut };
  const input = [Buffer.from(kept.map((name) => `${name}\0`).join(''), 'latin1')];
  const pieces: Uint8Array[] = [];
  const script = { path, text: STATUS, args: [path], input };
  for await (const bytes of printedBy(start, script, options)) pieces.push(bytes);
  const entries = listedEntries(Buffer.concat(pieces).toString('latin1'), kept);
  return { entries: entries.sort((one, other) => (one.path < other.path ? -1 : 1)), isCut };
}

/** Returns names, each byte as a character: one more than are wanted, if there are more. */
async function namesIn(
  start: StartThere,
  path: string,
  { recursive, most }: { readonly recursive: boolean | undefined; readonly most: number },
  options: ScriptOptions,
): Promise<readonly string[]> {
  const names: string[] = [];
  let rest = '';
  const script = { path, text: NAMES, args: [path, recursive === true ? 'all' : 'one'] };
  for await (const bytes of printedBy(start, script, options)) {
    const parts = `${rest}${Buffer.from(bytes).toString('latin1')}`.split('\0');
    rest = parts.pop() ?? '';
    for (const name of parts) names.push(name);
    if (names.length > most) break;
  }
  return names;
}

/** Reads what `stat` has printed of names, in their order: names may have line feeds, and some have gone. */
export function listedEntries(printed: string, names: readonly string[]): FarEntry[] {
  const entries: FarEntry[] = [];
  let at = 0;
  for (const name of names) {
    const found = /^([0-9a-f]+) (\d+) (-?\d+) /.exec(printed.slice(at, at + 64));
    if (found === null) break;
    const [head, mode = '', size, modified] = found;
    const begins = at + head.length;
    if (!printed.startsWith(`${name}\n`, begins)) continue;
    at = begins + name.length + 1;
    const bits = Number.parseInt(mode, 16);
    entries.push({
      path: Buffer.from(name.replace(/^\.\//, ''), 'latin1').toString(),
      type: KINDS.get(bits & 0o170000) ?? 'other',
      size: Number(size),
      mode: bits & 0o7777,
      modified: Number(modified),
    });
  }
  return entries;
}
