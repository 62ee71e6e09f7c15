import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { Socket } from 'node:net';
import { messageOf } from '../../support/errors.js';
import { lastBytes, visibleLines } from '../../support/text.js';
import { settlesWithin } from '../../support/timing.js';

/** What it has said is told when it fails, as much of it. */
const TOLD_BYTES = 2048;
/** The far side has ended everything by then, or never will. */
const LEAVE_MS = 30_000;
/** One that is told to end has so long. */
const END_MS = 2000;
/** Once it has ended itself, others that have its pipes, such as ssh's master, are waited for so long. */
const PIPES_MS = 500;

/** Where it is started, and with which variables. */
interface Start {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The program by which a far side is reached. */
export class FarProgram {
  /** Settles with how it has ended, and what it has said: soon after, whoever has its pipes. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcessWithoutNullStreams;
  #said = '';
  #isLeaving = false;

  /** @throws Error It can't be started. */
  constructor(program: string, args: readonly string[], { cwd, env }: Start) {
    const child = start(program, args, { cwd, env });
    const failed = new Promise<string>((resolve) => {
      child.on('error', (error) => resolve(whyNotStarted(error, cwd)));
    });
    const exited = new Promise<string>((resolve) => {
      child.on('exit', (code, signal) => resolve(`${program} ended (${signal ?? `code ${code}`})`));
    });
    const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
    if (!hasPipes(child)) {
      // Without descriptors it has none, and tells the reason in the next turn.
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

  /** Whether this process stays alive for it; once it is to end, it does. */
  hold(holds: boolean): void {
    if (this.#isLeaving && !holds) return;
    for (const one of [this.#child, this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      if (!(one instanceof Socket) && one !== this.#child) continue;
      if (holds) one.ref();
      else one.unref();
    }
  }

  /** Lets it end, now that its input has ended; a program that does not is ended. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.hold(true);
    if (!(await settlesWithin(this.ended, LEAVE_MS))) this.#child.kill('SIGKILL');
    await this.ended;
    this.#letGo();
  }

  /** What went wrong, after it was ended. */
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

  /** Others may have the other ends of its pipes for as long as they like. */
  #letGo(): void {
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      stream.destroy();
    }
  }
}

function start(program: string, args: readonly string[], { cwd, env }: Start): ChildProcess {
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

/** Of a directory that is not there, the system says that the program is not. */
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
