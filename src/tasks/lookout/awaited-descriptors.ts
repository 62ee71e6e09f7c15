import { type FileHandle, open, readFile } from 'node:fs/promises';
import { hasCode } from '../../support/errors.js';

/** The file descriptors for whose input a thread sleeps. */
export interface AwaitedDescriptors {
  readonly descriptors: readonly number[];
  /**
   * `exact`: the thread itself named them. A set of `epoll` is registered before, and may have some that the
   * program has lost interest in: `set`, without a time limit, and `limitedSet`, whose program has other
   * work too.
   */
  readonly named: 'exact' | 'set' | 'limitedSet';
}

/** The system calls in which a program waits for input. */
type WaitingCall = 'read' | 'poll' | 'select' | 'epoll';

const CALLS: Readonly<Record<string, Readonly<Record<number, WaitingCall>>>> = {
  x64: {
    ...{ 0: 'read', 19: 'read', 7: 'poll', 271: 'poll', 23: 'select', 270: 'select' },
    ...{ 232: 'epoll', 281: 'epoll', 441: 'epoll' },
  },
  arm64: {
    ...{ 63: 'read', 65: 'read', 73: 'poll', 72: 'select', 22: 'epoll', 441: 'epoll' },
  },
};

/** `epoll_pwait2`, whose time limit is a pointer: none for no limit. */
const EPOLL_PWAIT2 = 441;
/** The most descriptors that are looked at. */
const MOST_POLLED = 256;
const MOST_SELECTED = 1024;
/** POLLIN, which is EPOLLIN too. */
const IN = 1;
const POLLFD_BYTES = 8;

const NONE: AwaitedDescriptors = { descriptors: [], named: 'exact' };

/**
 * Returns for which descriptors' input a thread sleeps.
 *
 * @param thread Its directory in `/proc`.
 * @param process That of its process.
 * @throws Error with `code`: the kernel does not show it.
 */
export async function awaitedDescriptors(
  thread: string,
  process: string,
): Promise<AwaitedDescriptors> {
  // Number and arguments of the system call that it sleeps in: `0 0x0 0x7ffd… …`; or `running`.
  const text = await readFile(`${thread}/syscall`, 'latin1');
  const [number = 0, ...given] = text.split(' ').map(Number);
  const [first = 0, second = 0, , fourth = 0] = given;
  switch (CALLS[globalThis.process.arch]?.[number]) {
    case 'read':
      return { descriptors: [first], named: 'exact' };
    case 'poll':
      return { descriptors: await polled(process, first, second), named: 'exact' };
    case 'select':
      return { descriptors: await selected(process, first, second), named: 'exact' };
    case 'epoll': {
      const isEndless = number === EPOLL_PWAIT2 ? fourth === 0 : isNegative(fourth);
      const descriptors = await registered(process, first);
      return { descriptors, named: isEndless ? 'set' : 'limitedSet' };
    }
    default:
      return NONE;
  }
}

/** Returns whether an argument of 64 bits is a negative `int`. */
const isNegative = (value: number): boolean => value >= 2 ** 63 || value % 2 ** 32 >= 2 ** 31;

async function polled(process: string, address: number, count: number): Promise<number[]> {
  const bytes = await readMemory(process, address, Math.min(count, MOST_POLLED) * POLLFD_BYTES);
  const found: number[] = [];
  for (let at = 0; at + POLLFD_BYTES <= bytes.length; at += POLLFD_BYTES) {
    const descriptor = bytes.readInt32LE(at);
    // A negative descriptor is left out.
    if (descriptor >= 0 && bytes.readInt16LE(at + 4) & IN) found.push(descriptor);
  }
  return found;
}

async function selected(process: string, limit: number, address: number): Promise<number[]> {
  if (address === 0) return [];
  const count = Math.min(limit, MOST_SELECTED);
  const bytes = await readMemory(process, address, Math.ceil(count / 8));
  return Array.from({ length: count }, (_, index) => index).filter(
    (descriptor) => ((bytes[descriptor >> 3] ?? 0) >> (descriptor & 7)) & 1,
  );
}

/** Returns the descriptors of an `epoll` set whose input is waited for. */
async function registered(process: string, descriptor: number): Promise<number[]> {
  const info = await readFile(`${process}/fdinfo/${descriptor}`, 'latin1');
  const entries = info.matchAll(/^tfd:\s+(\d+) events:\s+([0-9a-f]+)/gm);
  return [...entries]
    .filter(([, , events = '']) => Number.parseInt(events, 16) & IN)
    .map(([, target]) => Number(target))
    .slice(0, MOST_POLLED);
}

async function readMemory(process: string, address: number, length: number): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0);
  let memory: FileHandle | undefined;
  try {
    memory = await open(`${process}/mem`, 'r');
    const { buffer, bytesRead } = await memory.read(Buffer.alloc(length), 0, length, address);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    // The call has returned meanwhile, and its memory is gone.
    if (hasCode(error, 'EIO')) return Buffer.alloc(0);
    throw error;
  } finally {
    await memory?.close();
  }
}
