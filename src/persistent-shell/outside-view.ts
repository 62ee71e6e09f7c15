import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  fstatSync,
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
import type { BackgroundProcess } from '../engine/outcome.js';
import { hasCode } from '../support/errors.js';
import { pause } from '../support/timing.js';
import type { NamedPipe } from './pipes.js';

// What every call asks is asked here and now: the kernel answers from its memory, in less time than
// it takes to wake another thread for it.

const readText = promisify(readFile);

const SETTLING_MS = 20;

/** What the system shows of a shell that runs, and of what it has started. */
export class OutsideView {
  readonly #shell: number;
  /** The lists of the shell's children, and of its parent's, which its orphans become. */
  readonly #lists: readonly number[] | undefined;
  /** Those that have been seen, and those that had been when newcomers were asked for last. */
  #known: ReadonlySet<number> = new Set();
  #before: ReadonlySet<number> = new Set();

  constructor(shell: number) {
    this.#shell = shell;
    this.#lists = openLists(shell);
  }

  /** Where the shell is, without symlinks; undefined: that cannot be seen, or is no text. */
  directory(): string | undefined {
    try {
      const path = readlinkSync(`/proc/${this.#shell}/cwd`, 'buffer');
      return isUtf8(path) ? path.toString() : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Whether one who was a newcomer when they were asked for last, or whom one of them has started
   * since, may have one of these pipes open.
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

  /** What runs of the shell's and did not when this was asked last; undefined: not to be seen. */
  async newcomers(): Promise<readonly BackgroundProcess[] | undefined> {
    const lists = this.#lists;
    if (lists === undefined) return undefined;
    try {
      let members = this.#membersIn(lists);
      if ([...members].some((pid) => !this.#known.has(pid))) {
        // It may be about to end, or have yet to become the program that it will be.
        await pause(SETTLING_MS);
        members = this.#membersIn(lists);
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

/** Undefined: there are none, or they cannot be read. */
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

/** Of more children than fit, nobody reads the names. */
const list = Buffer.alloc(16 * 1024);

function readList(fd: number): readonly number[] {
  const length = readSync(fd, list, 0, list.length, 0);
  return numbersIn(list.toString('latin1', 0, length));
}

/** Each has a blank after it, unless the list was cut. */
function numbersIn(list: string): readonly number[] {
  return list.split(' ').slice(0, -1).map(Number);
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  return numbersIn(await readText(listOf(pid), 'latin1'));
}

/** @throws It may not be looked at. */
function hasOpen(pid: number, pipes: readonly NamedPipe[]): boolean {
  const folder = `/proc/${pid}/fd`;
  return ifThere(() => readdirSync(folder), []).some((fd) =>
    ifThere(() => leadsTo(`${folder}/${fd}`, pipes), false),
  );
}

/** By its name first: whatever else is open may lie where a look takes long. */
function leadsTo(link: string, pipes: readonly NamedPipe[]): boolean {
  const name = basename(readlinkSync(link)).replace(/ \(deleted\)$/, '');
  const pipe = pipes.find(({ path }) => basename(path) === name);
  if (pipe === undefined) return false;
  const [theirs, ours] = [statSync(link), fstatSync(pipe.fd)];
  return theirs.ino === ours.ino && theirs.dev === ours.dev;
}

const readIfThere = (path: string) => ifThere(() => readFileSync(path, 'latin1'), '');

/** The other, if what is looked at has ended, or been closed, meanwhile. */
function ifThere<T>(look: () => T, other: T): T {
  try {
    return look();
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return other;
    throw error;
  }
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
  const [state = '', , processGroup] = text.slice(end + 2).split(' ');
  const name = text.slice(text.indexOf('(') + 1, end);
  return { state, name, processGroup: Number(processGroup) };
}
