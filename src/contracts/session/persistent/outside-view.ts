import { isUtf8 } from 'node:buffer';
import { close, open, read, readFile, readlink } from 'node:fs';
import { promisify } from 'node:util';
import type { BackgroundProcess } from '../../../engine/outcome.js';
import { pause } from '../../../support/timing.js';

// The callback forms: those of fs.promises take several times as long, on every call's way.
const openFile = promisify(open);
const readLink = promisify(readlink);
const readText = promisify(readFile);

const SETTLING_MS = 20;

/** What the system shows of a shell that runs, and of what it has started. */
export class OutsideView {
  readonly #shell: number;
  /** The lists of the shell's children, and of its parent's, which its orphans become. */
  readonly #lists: Promise<readonly number[]>;
  /** Those that have been seen. */
  #known: ReadonlySet<number> = new Set();

  constructor(shell: number) {
    this.#shell = shell;
    this.#lists = openLists(shell);
    // Whoever asks is told.
    this.#lists.catch(() => {});
  }

  /** Where the shell is, without symlinks; undefined: that cannot be seen, or is no text. */
  directory(): Promise<string | undefined> {
    return new Promise((resolve) => {
      readlink(`/proc/${this.#shell}/cwd`, 'buffer', (error, path) => {
        resolve(error === null && isUtf8(path) ? path.toString() : undefined);
      });
    });
  }

  /** Whether the shell's own stdout or stderr is one of these files, as far as that can be seen. */
  async writesTo(paths: readonly string[]): Promise<boolean> {
    const links = [1, 2].map((fd) => readLink(`/proc/${this.#shell}/fd/${fd}`, 'utf8'));
    const found = await Promise.all(links).catch(() => paths);
    return found.some((link) => paths.some((path) => link.startsWith(path)));
  }

  async close(): Promise<void> {
    for (const list of await this.#lists.catch(() => [])) close(list, () => {});
  }

  /** What runs of the shell's and did not when this was asked last; undefined: not to be seen. */
  async newcomers(): Promise<readonly BackgroundProcess[] | undefined> {
    try {
      let members = await this.#members();
      if ([...members].some((pid) => !this.#known.has(pid))) {
        // It may be about to end, or have yet to become the program that it will be.
        await pause(SETTLING_MS);
        members = await this.#members();
      }
      const found: BackgroundProcess[] = [];
      // A set is walked to what is added on the way.
      for (const pid of members) {
        if (this.#known.has(pid)) continue;
        const one = await lookAt(pid);
        if (one === undefined) continue;
        found.push(one);
        for (const child of await childrenOf(pid).catch(() => [])) members.add(child);
      }
      this.#known = members;
      return found;
    } catch {
      return undefined;
    }
  }

  async #members(): Promise<Set<number>> {
    const families = await Promise.all((await this.#lists).map(readList));
    const members = new Set(families.flat());
    members.delete(this.#shell);
    return members;
  }
}

async function openLists(shell: number): Promise<readonly number[]> {
  const own = await openFile(listOf(shell), 'r');
  try {
    const { parent } = await statusOf(shell);
    return [own, await openFile(listOf(parent), 'r')];
  } catch (error) {
    close(own, () => {});
    throw error;
  }
}

const listOf = (pid: number) => `/proc/${pid}/task/${pid}/children`;

/** Of more children than fit, nobody reads the names. */
const MOST_BYTES = 16 * 1024;

function readList(list: number): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    read(list, Buffer.allocUnsafe(MOST_BYTES), 0, MOST_BYTES, 0, (error, length, bytes) => {
      if (error !== null) reject(error);
      else resolve(numbersIn(bytes.toString('latin1', 0, length)));
    });
  });
}

/** Each has a blank after it, unless the list was cut. */
function numbersIn(list: string): readonly number[] {
  return list.split(' ').slice(0, -1).map(Number);
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  return numbersIn(await readText(listOf(pid), 'latin1'));
}

/** Undefined: it has ended. */
async function lookAt(pid: number): Promise<BackgroundProcess | undefined> {
  try {
    const { state, processGroup, name } = await statusOf(pid);
    if (state === 'Z' || state === 'X') return undefined;
    const line = await readText(`/proc/${pid}/cmdline`);
    const words = line.toString().replace(/\0+$/, '').replaceAll('\0', ' ');
    return { pid, processGroup, command: words === '' ? `[${name}]` : words };
  } catch {
    return undefined;
  }
}

async function statusOf(pid: number) {
  const text = await readText(`/proc/${pid}/stat`, 'latin1');
  // The name may have anything in it.
  const end = text.lastIndexOf(')');
  const [state = '', parent, processGroup] = text.slice(end + 2).split(' ');
  const name = text.slice(text.indexOf('(') + 1, end);
  return { state, name, parent: Number(parent), processGroup: Number(processGroup) };
}
