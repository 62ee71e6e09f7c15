import { readdir, readlink } from 'node:fs/promises';
import type { Typing } from '../../engine/message.js';
import type { BackgroundProcess } from '../../engine/outcome.js';
import { inBatches } from '../../support/batches.js';
import { hasCode } from '../../support/errors.js';
import type { TaskSubject } from '../subject.js';
import { type AwaitedDescriptors, awaitedDescriptors } from './awaited-descriptors.js';

/**
 * The input that a command waits for: keys of its terminal, data on its standard input, or a line that its
 * terminal does not show, as for a password.
 */
export type InputWait = 'terminal' | 'stdin' | 'password';

/** What was seen of a process. `unseen`: the kernel does not show it to this user. */
type SeenWait = 'terminal' | 'stdin' | 'nothing' | 'unseen';

/** The most threads of a process that are looked at. */
const MOST_THREADS = 64;

/**
 * Returns the input that a command waits for. Undefined: none, or it could not be seen: the kernel shows only
 * to some users which system call a process is in.
 */
export async function inputWaitOf(subject: TaskSubject): Promise<InputWait | undefined> {
  const [members, typing] = await Promise.all([subject.members(), subject.typing?.()]);
  const facts = { typing, stdin: await stdinOf(members ?? []) };
  const seen = await inBatches(members ?? [], ({ pid }) => look(pid, facts));
  const wait = seen.find((one) => one === 'terminal' || one === 'stdin');
  // `sudo` runs as another user, who is not seen.
  const mayRead = wait === 'terminal' || (wait === undefined && seen.includes('unseen'));
  if (typing === 'hidden' && mayRead) return 'password';
  return wait === 'terminal' || wait === 'stdin' ? wait : undefined;
}

/** What is known of a command's input. */
interface InputFacts {
  readonly typing: Typing | undefined;
  /** The pipe that is its stdin, as the kernel names it. */
  readonly stdin: string | undefined;
}

/** Returns the pipe that a command has as stdin: that of its leader, since others may read from each other. */
async function stdinOf(members: readonly BackgroundProcess[]): Promise<string | undefined> {
  const leader = members.find(({ pid, processGroup }) => pid === processGroup);
  if (leader === undefined) return undefined;
  return readlink(`/proc/${leader.pid}/fd/0`).catch(() => undefined);
}

async function look(pid: number, facts: InputFacts): Promise<SeenWait> {
  const process = `/proc/${pid}`;
  try {
    const threads = (await readdir(`${process}/task`)).slice(0, MOST_THREADS);
    for (const thread of threads) {
      const awaited = await awaitedDescriptors(`${process}/task/${thread}`, process);
      const wait = await inputAmong(awaited, process, facts);
      if (wait !== undefined) return wait;
    }
    return 'nothing';
  } catch (error) {
    return hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH') ? 'nothing' : 'unseen';
  }
}

/** Returns the input among descriptors, if it is certain that the command waits for that and nothing else. */
async function inputAmong(
  { descriptors, named }: AwaitedDescriptors,
  process: string,
  { typing, stdin }: InputFacts,
): Promise<'terminal' | 'stdin' | undefined> {
  const kinds = await Promise.all(descriptors.map((one) => kindOf(process, one, stdin)));
  if (kinds.includes('relay')) return undefined;
  const wait = kinds.find((kind) => kind === 'terminal' || kind === 'stdin');
  // A program takes keys one by one only while it listens to them.
  if (named !== 'exact' && wait === 'terminal' && typing === 'keys') return wait;
  return named === 'limitedSet' || kinds.includes('peer') ? undefined : wait;
}

/**
 * A descriptor: input, a connection, the master of another terminal, or something that only the program itself
 * uses.
 */
type Kind = 'terminal' | 'stdin' | 'peer' | 'relay' | 'own';

async function kindOf(
  process: string,
  descriptor: number,
  stdin: string | undefined,
): Promise<Kind> {
  const target = await readlink(`${process}/fd/${descriptor}`);
  if (/^\/dev\/(?:pts\/\d+|tty.*|console)$/.test(target)) return 'terminal';
  if (/^\/dev\/(?:pts\/)?ptmx$/.test(target)) return 'relay';
  if (target === stdin && /^(?:pipe|socket):/.test(target)) return 'stdin';
  return target.startsWith('socket:') ? 'peer' : 'own';
}
