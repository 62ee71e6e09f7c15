import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { atLeast, type OptionNames, readOptions } from '../../support/checks.js';
import { InputError, messageOf, showValue } from '../../support/errors.js';
import { lastBytes } from '../../support/text.js';
import { settlesWithin } from '../../support/timing.js';
import { NoWorkerError } from '../errors.js';
import { StreamLink } from '../wire/link.js';
import { Connection } from './connection.js';
import { skipGreeting } from './greeting.js';

/** How a far side is reached. Times in milliseconds. */
export interface ConnectOptions {
  /**
   * What is started to reach it, an argument each: it has the far side's standard input and output.
   * `['docker', 'exec', '-i', id, 'forkline', 'serve', '--stdio']`.
   */
  readonly command: readonly string[];
  /** Where that is started. Default: here. */
  readonly cwd?: string | undefined;
  /** Its variables. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** How long the far side may take to answer. Default: 30,000. */
  readonly readyMs?: number | undefined;
}

const NAMES: OptionNames<ConnectOptions> = { command: true, cwd: true, env: true, readyMs: true };
const READY_MS = 30_000;
/** What it has said on standard error is told when it fails, as much of it. */
const TOLD_BYTES = 2048;
/** The far side has ended everything by then, or never will. */
const LEAVE_MS = 30_000;

/**
 * Reaches a far side by a byte stream, and starts it by that: `forkline serve --stdio` at the other
 * end of whatever gets a standard input there.
 *
 * ```ts
 * await using far = await connect({ command: ['ssh', host, 'forkline', 'serve', '--stdio'] });
 * const result = await far.run('make -j8', { cwd: '/srv/project', timeoutMs: 60_000 });
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws {NoWorkerError} Nobody answers there; nothing was started.
 */
export async function connect(given: ConnectOptions): Promise<Connection> {
  const options = readOptions('options', given, NAMES);
  const [program, ...args] = checkCommandLine(options.command);
  const readyMs = atLeast('readyMs', 1, options.readyMs ?? READY_MS);
  const { cwd, env } = options;
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env: { ...env } }),
    windowsHide: true,
  });
  const far = new FarProgram(child, program);
  try {
    const input = await skipGreeting(child.stdout, far.ended, readyMs);
    const link = new StreamLink(input, child.stdin, (holds) => far.hold(holds));
    return await Connection.greet(link, { readyMs, ended: () => far.leave() });
  } catch (error) {
    const why = await far.whyNot(error);
    throw new NoWorkerError(`Nobody answers at \`${options.command.join(' ')}\`: ${why}`);
  }
}

function checkCommandLine(command: unknown): [program: string, ...args: string[]] {
  const isList = Array.isArray(command) && command.every((word) => typeof word === 'string');
  const [program, ...args] = isList ? (command as readonly string[]) : [];
  if (program) return [program, ...args];
  throw new InputError(`command: expected a program and its arguments, got ${showValue(command)}`);
}

/** The program by which a far side is reached. */
class FarProgram {
  /** Settles with how it has ended. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #said = '';
  #isLeaving = false;

  constructor(
    child: ChildProcess & { readonly stderr: Readable; readonly stdin: Writable },
    name: string,
  ) {
    this.#child = child;
    child.stderr.on('data', (text: Buffer) => {
      this.#said = lastBytes(this.#said + text.toString(), TOLD_BYTES);
    });
    child.stdin.on('error', () => {});
    this.ended = new Promise((resolve) => {
      child.on('error', ({ message }) => resolve(message));
      child.on('close', (code, signal) => resolve(`${name} ended (${signal ?? `code ${code}`})`));
    });
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
  }

  /** What went wrong, after it was ended. */
  async whyNot(error: unknown): Promise<string> {
    this.#child.stdin?.end();
    this.#child.kill('SIGTERM');
    if (!(await settlesWithin(this.ended, 2000))) this.#child.kill('SIGKILL');
    await this.ended;
    const said = this.#said.trim();
    const reason = messageOf(error);
    return said === '' ? reason : `${reason}: ${said}`;
  }
}
