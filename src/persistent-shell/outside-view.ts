import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  openSync,
  readdirSync,
  readFile,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import type { NamedPipe } from '../engine/local-stream.js';
import type { BackgroundProcess } from '../engine/outcome.js';
import { hasCode } from '../support/errors.js';
import { pause } from '../support/timing.js';

// The look-ups of every call are synchronous: the kernel answers them from memory, in less time than it takes
// to wake another thread.

const readText = promisify(readFile);

const SETTLING_MS = 20;

/** The view of a running shell and its processes in `/proc`. */
export class OutsideView {
  readonly #shell: number;
  /** Open lists of the shell's children, and of its parent's children, which orphans become. */
  readonly #lists: readonly number[] | undefined;
  /** Processes known at the last call of `newcomers()`, and at the one before. */
  #known: ReadonlySet<number> = new Set();
  #before: ReadonlySet<number> = new Set();

  constructor(shell: number) {
    this.#shell = shell;
    this.#lists = openLists(shell);
  }

  /** Returns the shell's directory, without symlinks; undefined: it cannot be read, or is no UTF-8. */
  directory(): string | undefined {
    try {
      return textOf(readlinkSync(`/proc/${this.#shell}/cwd`, { encoding: 'buffer' }));
    } catch {
      return undefined;
    }
  }

  /**
   * Returns whether one of these pipes may be open in a process that the last `newcomers()` returned, or in one
   * that those have started since.
   */
  areHeld(pipes: readonly NamedPipe[]): boolean {
    const lists = this.#lists;
    if (lists === undefined) return true;
    try {
      const members = this.#membersIn(lists);
      for (const pid of members) {
        if (this.#before.has(pid)) continue;
        if (hasOpen(pid, pipes)) return true;
        for (const child of numbersIn(readIfThere(listOf(pid)))) members.add(child);
      }
      return false;
    } catch {
      return true;
    }
  }

  close(): void {
    for (const list of this.#lists ?? []) closeSync(list);
  }

  /** Returns the shell's processes that did not run at the last such call; undefined: they cannot be seen. */
  async newcomers(): Promise<readonly BackgroundProcess[] | undefined> {
    const lists = this.#lists;
    if (lists === undefined) return undefined;
    try {
      let members = this.#membersIn(lists);
      if ([...members].some((pid) => !this.#known.has(pid))) {
        // The process may be about to end, or may not have called exec yet.
        await pause(SETTLING_MS);
        members = this.#membersIn(lists);
      }
      const found: BackgroundProcess[] = [];
      // The loop also visits members that are added on the way.
      for (const pid of members) {
        if (this.#known.has(pid)) continue;
        const one = await lookAt(pid);
        if (one === undefined) continue;
        found.push(one);
        for (const child of await childrenOf(pid).catch(() => [])) members.add(child);
      }
      this.#before = this.#known;
      this.#known = members;
      return found;
    } catch {
      return undefined;
    }
  }

  #membersIn(lists: readonly number[]): Set<number> {
    const members = new Set(lists.flatMap(readList));
    members.delete(this.#shell);
    return members;
  }
}

/**
 * Decodes a path; undefined: no UTF-8. With yarn's PnP, paths are text whatever encoding is asked for; with
 * Deno, they are in an array that is no Buffer, and the encoding must be an option.
 */
function textOf(path: Uint8Array | string): string | undefined {
  if (typeof path === 'string') return path.includes('\uFFFD') ? undefined : path;
  return isUtf8(path) ? Buffer.from(path).toString() : undefined;
}

/** Opens the lists; undefined: the system has none, or they cannot be read. */
function openLists(shell: number): readonly number[] | undefined {
  const opened: number[] = [];
  try {
    opened.push(openSync(listOf(shell), 'r'));
    const [, parent = ''] =
      /^PPid:\s(\d+)$/m.exec(readFileSync(`/proc/${shell}/status`, 'latin1')) ?? [];
    opened.push(openSync(listOf(Number(parent)), 'r'));
    return opened;
  } catch {
    for (const list of opened) closeSync(list);
    return undefined;
  }
}

const listOf = (pid: number) => `/proc/${pid}/task/${pid}/children`;

/** The buffer for a list. Children that do not fit are not looked at. */
const list = Buffer.alloc(16 * 1024);

function readList(fd: number): readonly number[] {
  const length = readSync(fd, list, 0, list.length, 0);
  return numbersIn(list.toString('latin1', 0, length));
}

/** Parses a list. Each number has a blank after it, unless the list was cut. */
function numbersIn(list: string): readonly number[] {
  return list.split(' ').slice(0, -1).map(Number);
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  return numbersIn(await readText(listOf(pid), 'latin1'));
}

/** @throws Error The process cannot be examined. */
function hasOpen(pid: number, pipes: readonly NamedPipe[]): boolean {
  const folder = `/proc/${pid}/fd`;
  return ifThere(() => readdirSync(folder), []).some((fd) =>
    ifThere(() => leadsTo(`${folder}/${fd}`, pipes), false),
  );
}

/** Compares the name first, since a stat of another file may take long, as on a network. */
function leadsTo(link: string, pipes: readonly NamedPipe[]): boolean {
  const name = basename(readlinkSync(link)).replace(/ \(deleted\)$/, '');
  const pipe = pipes.find(({ path }) => basename(path) === name);
  if (pipe === undefined) return false;
  const [theirs, ours] = [statSync(link), statSync(`/proc/self/fd/${pipe.descriptor}`)];
  return theirs.ino === ours.ino && theirs.dev === ours.dev;
}

const readIfThere = (path: string) => ifThere(() => readFileSync(path, 'latin1'), '');

/** Returns `other` if the process has ended, or the descriptor was closed, meanwhile. */
function ifThere<T>(look: () => T, other: T): T {
  try {
    return look();
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return other;
    throw error;
  }
}

/** Reads what a process runs; undefined: it has ended. */
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
  // The name may contain any character, also a parenthesis.
  const end = text.lastIndexOf(')');
  const [state = '', , processGroup] = text.slice(end + 2).split(' ');
  const name = text.slice(text.indexOf('(') + 1, end);
  return { state, name, processGroup: Number(processGroup) };
}
