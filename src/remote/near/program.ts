import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { Socket } from 'node:net';
import { messageOf } from '../../support/errors.js';
import { lastBytes, visibleLines } from '../../support/text.js';
import { settlesWithin } from '../../support/timing.js';

/** Bytes of standard error that an error shows. */
const TOLD_BYTES = 2048;
/** The longest wait until the far side has ended everything, in milliseconds. */
const LEAVE_MS = 30_000;
/** The longest wait after SIGTERM, in milliseconds. */
const END_MS = 2000;
/**
 * The longest wait after the exit for other processes that hold the pipes, such as ssh's master, in
 * milliseconds.
 */
const PIPES_MS = 500;

/** The directory and variables of the program. */
interface ProgramStart {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The program by which a far side is reached. */
export class FarProgram {
  /**
   * Settles with how the program has ended and what it has printed: soon after its exit, even if other
   * processes hold its pipes.
   */
  readonly ended: Promise<string>;
  readonly #child: ChildProcessWithoutNullStreams;
  #said = '';
  #isLeaving = false;

  /**
   * Starts the program.
   *
   * @throws Error The program can't be started.
   */
  constructor(program: string, args: readonly string[], { cwd, env }: ProgramStart) {
    const child = start(program, args, { cwd, env });
    const failed = new Promise<string>((resolve) => {
      child.on('error', (error) => resolve(whyNotStarted(error, cwd)));
    });
    const exited = new Promise<string>((resolve) => {
      child.on('exit', (code, signal) => resolve(`${program} ended (${signal ?? `code ${code}`})`));
    });
    const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
    if (!hasPipes(child)) {
      // Without free descriptors the child process has no pipes, and tells the reason in the next turn.
      throw new Error(`${program} can't be started: no descriptors are left (EMFILE)`);
    }
    this.#child = child;
    child.stderr.on('data', (text: Buffer) => {
      this.#said = lastBytes(this.#said + text.toString(), TOLD_BYTES);
    });
    child.stdin.on('error', () => {});
    const drained = exited.then(async (how) => {
      await settlesWithin(closed, PIPES_MS, 'keepsAlive');
      const said = visibleLines(this.#said);
      return said === '' ? how : `${how}: ${said}`;
    });
    this.ended = Promise.race([failed, drained]);
  }

  get input(): ChildProcessWithoutNullStreams['stdin'] {
    return this.#child.stdin;
  }

  get output(): ChildProcessWithoutNullStreams['stdout'] {
    return this.#child.stdout;
  }

  /**
   * Sets whether this process stays alive for the program; while the program is ending, it does.
   */
  hold(holds: boolean): void {
    if (this.#isLeaving && !holds) return;
    for (const one of [this.#child, this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      if (!(one instanceof Socket) && one !== this.#child) continue;
      if (holds) one.ref();
      else one.unref();
    }
  }

  /** Lets the program end, now that its input has ended; kills a program that does not. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.hold(true);
    if (!(await settlesWithin(this.ended, LEAVE_MS))) this.#child.kill('SIGKILL');
    await this.ended;
    this.#letGo();
  }

  /** Ends the program, and returns what went wrong. */
  async whyNot(error: unknown): Promise<string> {
    this.#isLeaving = true;
    this.hold(true);
    const reason = messageOf(error);
    this.#child.stdin.end();
    this.#child.kill('SIGTERM');
    if (!(await settlesWithin(this.ended, END_MS))) this.#child.kill('SIGKILL');
    const how = await this.ended;
    this.#letGo();
    const said = visibleLines(this.#said);
    if (said === '' || reason.includes(said) || how === reason) return reason;
    return `${reason}: ${said}`;
  }

  /** Closes the pipes: other processes may hold the other ends as long as they like. */
  #letGo(): void {
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      stream.destroy();
    }
  }
}

function start(program: string, args: readonly string[], { cwd, env }: ProgramStart): ChildProcess {
  try {
    return spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(cwd !== undefined && { cwd }),
      ...(env !== undefined && { env: { ...env } }),
      windowsHide: true,
    });
  } catch (error) {
    throw new Error(whyNotStarted(error, cwd), { cause: error });
  }
}

function hasPipes(child: ChildProcess): child is ChildProcessWithoutNullStreams {
  return child.stdin != null && child.stdout != null && child.stderr != null;
}

/**
 * Returns why the program was not started. The system reports a missing directory as a missing program.
 */
function whyNotStarted(error: unknown, cwd: string | undefined): string {
  const reason = messageOf(error);
  if (cwd === undefined) return reason;
  try {
    if (statSync(cwd).isDirectory()) return reason;
    return `cwd: ${cwd} is no directory`;
  } catch (missing) {
    return `cwd: ${messageOf(missing)}`;
  }
}
