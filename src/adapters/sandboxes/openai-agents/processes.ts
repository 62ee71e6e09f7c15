import type { ExecCommandArgs, SandboxExecResult, WriteStdinArgs } from '@openai/agents/sandbox';
import {
  type CommandLine,
  exitCodeOf,
  type LiveProcess,
  type Outcome,
  shellQuote,
} from '../../../index.js';
import { InputError } from '../../../support/errors.js';
import { settlesWithin } from '../../../support/timing.js';
import type { LocalMachine } from '../../local-machine/machine.js';
import { execAnswer, fitted } from './answer.js';
import { PendingOutput } from './pending-output.js';

const EXEC_YIELD_MS = 10_000;
const WRITE_YIELD_MS = 250;
/** The kernel's limit for one argument is 128 KiB. */
const LONGEST_ARGUMENT_BYTES = 100 * 1024;

/** A started command, and its unread output. */
interface Running {
  readonly process: LiveProcess;
  readonly pending: PendingOutput;
  readonly ended: Promise<Outcome>;
  readonly hasTerminal: boolean;
}

/** The commands of a session: those that go on have a number. */
export class Processes {
  readonly #machine: LocalMachine;
  readonly #shell: string;
  readonly #running = new Map<number, Running>();
  #lastNumber = 0;

  constructor(machine: LocalMachine, shell = '/bin/bash') {
    this.#machine = machine;
    this.#shell = shell;
  }

  /** Runs a command for as long as the caller waits; one that goes on then gets a number. */
  async exec(
    args: ExecCommandArgs,
    env: Readonly<Record<string, string>>,
  ): Promise<SandboxExecResult> {
    const { cmd, workdir, shell = this.#shell, login = true, tty = false } = args;
    const start = performance.now();
    const process = await this.#machine.startText(commandOf(cmd, shell, login), {
      cwd: workdir,
      env,
      ...(tty ? { pty: true } : { stdin: 'pipe', streams: 'separate' }),
    });
    const running = follow(process, tty);
    const outcome = await within(running, args.yieldTimeMs ?? EXEC_YIELD_MS);
    const { output, ...streams } = running.pending.take();
    return {
      ...fitted(output + whyEnded(outcome), args.maxOutputTokens),
      ...streams,
      wallTimeSeconds: secondsSince(start),
      ...(outcome ? { exitCode: exitCodeOf(outcome) } : { sessionId: this.#keep(running) }),
    };
  }

  /**
   * Writes to a command, and returns what it has printed since.
   *
   * @throws {InputError} There is no such command, or its end has been told.
   */
  async write({ sessionId, chars = '', ...args }: WriteStdinArgs): Promise<string> {
    const running = this.#running.get(sessionId);
    if (running === undefined) {
      throw new InputError(`sessionId: expected the number of a running command, got ${sessionId}`);
    }
    const start = performance.now();
    await type(running, chars);
    const outcome = await within(running, args.yieldTimeMs ?? WRITE_YIELD_MS);
    if (outcome !== undefined) this.#running.delete(sessionId);
    const { output } = running.pending.take();
    return execAnswer({
      ...fitted(output + whyEnded(outcome), args.maxOutputTokens),
      wallTimeSeconds: secondsSince(start),
      ...(outcome ? { exitCode: exitCodeOf(outcome) } : { sessionId }),
    });
  }

  /** Ends all commands that go on. */
  async stop(): Promise<void> {
    const running = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(running.map(({ process }) => process.kill()));
  }

  #keep(running: Running): number {
    this.#lastNumber += 1;
    this.#running.set(this.#lastNumber, running);
    return this.#lastNumber;
  }
}

function commandOf(text: string, shell: string, login: boolean): CommandLine {
  if (Buffer.byteLength(text) < LONGEST_ARGUMENT_BYTES) {
    return [shell, login ? '-lc' : '-c', text];
  }
  // Text that is too long for an argument is read from a descriptor; stdin stays the command's own.
  const end = `END_OF_${Math.random().toString(36).slice(2)}`;
  const flag = login ? '-l ' : '';
  return `exec ${shellQuote([shell])} ${flag}/dev/fd/9 9<<'${end}'\n${text}\n${end}\n`;
}

function follow(process: LiveProcess, hasTerminal: boolean): Running {
  const pending = new PendingOutput();
  const read = async (): Promise<Outcome> => {
    for await (const chunk of process) pending.add(chunk);
    return (await process.result).outcome;
  };
  const ended = read();
  // A caller that waits gets the error.
  ended.catch(() => {});
  return { process, pending, ended, hasTerminal };
}

/** Waits for the end of a command; `undefined`: it goes on. */
async function within({ ended }: Running, ms: number): Promise<Outcome | undefined> {
  return (await settlesWithin(ended, ms, 'keepsAlive')) ? ended : undefined;
}

async function type({ process, hasTerminal }: Running, chars: string): Promise<void> {
  // Without a terminal, no driver turns the character into a signal.
  if (!hasTerminal && chars.includes('\x03')) await process.signal('SIGINT');
  const text = hasTerminal ? chars : chars.replaceAll('\x03', '');
  if (text === '') return;
  try {
    await process.write(text);
  } catch {
    // The command has ended, or closed its stdin: the answer tells.
  }
}

function whyEnded(outcome: Outcome | undefined): string {
  if (outcome?.kind === 'timedOut') return `\n[timed out after ${outcome.timeoutMs} ms]`;
  return outcome?.kind === 'cancelled' ? '\n[ended from outside]' : '';
}

function secondsSince(start: number): number {
  return (performance.now() - start) / 1000;
}
