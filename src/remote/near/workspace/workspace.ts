import { createReadStream } from 'node:fs';
import type { LiveProcess } from '../../../faces/command.js';
import type { BytesChunk } from '../../../faces/engine.js';
import { told } from '../files/far-script.js';
import { farFileError } from '../files/file-error.js';
import { FarFiles } from '../files/files.js';
import { startThere } from '../files/start-there.js';
import { type FarLine, spawnFar } from '../machine.js';
import type { Begin } from './begin.js';

/** How long it may take until it has all that it begins with, in milliseconds. */
const LONGEST_MS = 600_000;
/** How long a large directory may take to go when the line is lost, in milliseconds. */
const GOING_MS = 30_000;

/**
 * Makes a directory, tells its path, and removes it when its input or it itself ends: also when whoever has begun it
 * is gone, and all that this has started there is ended. Those that a killed machine's have left are removed, too: no
 * one holds their locks. What others have put there under such a name, a link too, stays as it is.
 */
const HOLD = `export LC_ALL=C; w=\${1:-\${TMPDIR:-/tmp}}
gone() { cd / && chmod -R u+rwX "$1" 2>/dev/null; rm -rf -- "$1"; }
d=$(mktemp -d "$w/forkline-workspace-XXXXXX") && mkdir "$d/tree" || exit 1
trap 'gone "$d"' EXIT; trap 'gone "$d"; exit 0' TERM HUP INT
if command -v flock >/dev/null; then
  exec 9>"$d/unlocked" && flock 9 && mv "$d/unlocked" "$d/lock"
fi
echo "$d/tree"
for l in "$w"/forkline-workspace-*/lock; do
  o=\${l%/lock}
  if [ -O "$o" ] && [ ! -L "$o" ] && [ -f "$l" ] && [ ! -L "$l" ]; then
    (flock -n 8 && gone "$o") 8<"$l" 9>&-
  fi
done 2>/dev/null
cat >/dev/null 9>&-`;

/**
 * Asks no one for a password, and keeps none: the session's commands read what is in the directory, and arguments are
 * seen by other users there, so the address is read. No program is started that an address names, and none that is a
 * hook of the user's. Not every server gives a commit by its id, or by a part of that: then all is fetched.
 */
const CLONE = `export GIT_TERMINAL_PROMPT=0 GIT_SSH_COMMAND="\${GIT_SSH_COMMAND:-ssh -oBatchMode=yes}"
export GIT_ALLOW_PROTOCOL=file:git:http:https:ssh
IFS= read -r url
cd -- "$1" && git init -q --template= . && git remote add origin "$2" || exit 1
if git fetch -q --depth 1 -- "$url" "$3" 2>/dev/null; then c=FETCH_HEAD; else
  git fetch -q -- "$url" '+refs/*:refs/remotes/origin/*' || exit 1
  c=$(git rev-parse -q --verify "$3^{commit}") || { echo "there is no commit $3" >&2; exit 1; }
fi
git -c core.hooksPath=/dev/null checkout -q --detach "$c" && rm -f .git/FETCH_HEAD`;

/** A directory of a session's own, which goes with it. */
interface HeldWorkspace {
  readonly path: string;
  /** Removes it, and settles when it is gone. */
  dispose(): Promise<void>;
}

/**
 * Makes the directory in which a session begins.
 *
 * @throws {FarFileError} It could not be made, or filled; nothing of it is left.
 */
export async function beginWorkspace(line: FarLine, begin: Begin): Promise<HeldWorkspace> {
  const holder = await spawnFar({ ...line, holds: true }, ['sh', '-c', HOLD, 'sh', begin.within], {
    ...{ encoding: 'bytes', streams: 'separate', stdin: 'pipe' },
    graceMs: GOING_MS,
  });
  const dispose = async (): Promise<void> => {
    holder.ref();
    holder.end();
    // With the line it is ended there, and removes the directory, too.
    await holder.result.catch(() => {});
  };
  try {
    const path = await pathOf(holder, begin.within);
    await fill(line, path, begin);
    // A session alone keeps no process alive.
    holder.unref();
    return { path, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function pathOf(holder: LiveProcess<BytesChunk>, within: string): Promise<string> {
  let [path, said] = ['', ''];
  for await (const { stream, bytes } of holder) {
    if (stream === 'stderr') said += Buffer.from(bytes).toString();
    else path += Buffer.from(bytes).toString();
    if (path.endsWith('\n')) return path.slice(0, -1);
  }
  throw farFileError(within || 'workspace', said);
}

async function fill(line: FarLine, path: string, begin: Begin): Promise<void> {
  const start = startThere(line, () => ({}));
  const options = { timeoutMs: LONGEST_MS };
  if (begin.kind === 'git') {
    const { url, commit } = begin;
    const origin = withoutPassword(url);
    const input = [Buffer.from(`${url}\n`)];
    const script = { path: origin, text: CLONE, args: [path, origin, commit], input };
    await told(start, script, options);
    return;
  }
  const { archive } = begin;
  const bytes = typeof archive === 'string' ? createReadStream(archive) : archive;
  await new FarFiles(start).unpack(path, bytes, options);
}

/** Returns an address without what proves who asks. */
function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  // In front of a host that is reached by ssh, it is only a name.
  if (/^https?:$/.test(url.protocol)) url.username = '';
  url.password = '';
  return url.href;
}
