import { messageOf } from '../support/errors.js';
import { wellFormed } from '../support/text.js';
import type {
  ClientExitStatus,
  ClientOutcome,
  ClientResult,
  ClientTerminalHandle,
  ClientTerminalOutput,
  ClientWatcher,
} from './client-terminal.js';
import { type Answer, ask, type Stop } from './client-terminal-wait.js';

/** Why one waits no longer for a command. `lost`: the client answers nothing any more. */
export type StopReason = 'exited' | 'timedOut' | 'cancelled' | 'lost';

export interface ClientTimes {
  /** Time from one look at the output to the next. */
  readonly pollMs: number;
  /** Time that the client has for one answer. */
  readonly answerMs: number;
}

/** How long a command that was killed may take to be gone; by then its last words are there. */
const GONE_MS = 1000;

/** One command in a terminal that the client has made. */
export class ClientRun {
  readonly #handle: ClientTerminalHandle;
  readonly #stop: Stop<StopReason>;
  readonly #times: ClientTimes;
  readonly #watcher: ClientWatcher;
  readonly #startedAt: number;
  #shown: Pick<ClientTerminalOutput, 'output' | 'truncated'> = { output: '', truncated: false };
  #status: ClientExitStatus | undefined;
  #trouble: unknown;
  #exited = Promise.resolve();
  #waitFailed = false;

  /** @param startedAt When the client was asked for the terminal. */
  constructor(
    handle: ClientTerminalHandle,
    stop: Stop<StopReason>,
    times: ClientTimes,
    watcher: ClientWatcher,
    startedAt: number,
  ) {
    this.#handle = handle;
    this.#stop = stop;
    this.#times = times;
    this.#watcher = watcher;
    this.#startedAt = startedAt;
  }

  /** Follows the command to its end, and releases the terminal whatever happens. */
  async finish(): Promise<ClientResult> {
    let known: Pick<ClientResult, 'outcome' | 'stale' | 'durationMs'> | undefined;
    let killed = false;
    let released = false;
    try {
      this.#exited = this.#awaitExit();
      const sawEnd = await this.#poll();
      const durationMs = performance.now() - this.#startedAt;
      const reason = this.#stop.reason ?? 'lost';
      if (reason === 'timedOut' || reason === 'cancelled') killed = await this.#kill();
      const stale = !sawEnd && !(await this.#look());
      // The end was seen, but not how it came; the other question may tell.
      if (reason === 'exited' && !isKnown(this.#status)) await this.#gone();
      known = { outcome: this.#outcome(reason), stale, durationMs };
    } finally {
      released = await releaseTerminal(this.#handle, this.#times.answerMs);
    }
    return {
      ...known,
      ...this.#shown,
      terminalId: this.#handle.id,
      mayStillRun: this.#status === undefined && !killed && !released,
    };
  }

  async #awaitExit(): Promise<void> {
    try {
      this.#learn(await this.#handle.waitForExit());
      this.#stop.tell('exited');
    } catch (error) {
      // Some clients cannot; then the output tells.
      this.#trouble = error;
      this.#waitFailed = true;
    }
  }

  /** Looks at the output until there is a reason to stop; whether the last look saw the end. */
  async #poll(): Promise<boolean> {
    while (this.#stop.reason === undefined) {
      const answer = await this.#stop.orWork(this.#ask());
      if (answer !== undefined && this.#take(answer)) {
        this.#stop.tell('exited');
        return true;
      }
      if (answer?.kind === 'refused' && this.#waitFailed) this.#stop.tell('lost');
      await this.#stop.orTime(this.#times.pollMs);
    }
    return false;
  }

  #ask(): Promise<Answer<ClientTerminalOutput>> {
    return ask(() => this.#handle.currentOutput(), this.#times.answerMs);
  }

  /** A last look; whether the client answered. */
  async #look(): Promise<boolean> {
    const answer = await this.#ask();
    this.#take(answer);
    return answer.kind === 'given';
  }

  /** Whether the answer says that the command has ended. */
  #take(answer: Answer<ClientTerminalOutput>): boolean {
    if (answer.kind === 'refused') this.#trouble = answer.error;
    if (answer.kind !== 'given') return false;
    // What the client says was checked by nobody.
    const { output, truncated, exitStatus } = answer.value ?? {};
    if (typeof output === 'string') {
      this.#shown = { output: plainText(output), truncated: truncated === true };
      this.#watcher.shows(this.#shown.output, this.#shown.truncated);
    }
    if (exitStatus === undefined || exitStatus === null) return false;
    this.#learn(exitStatus);
    return true;
  }

  #learn(status: ClientExitStatus): void {
    if (!isKnown(this.#status)) this.#status = status ?? {};
  }

  /** Ends the command and waits a little until it is gone; whether the client took the order. */
  async #kill(): Promise<boolean> {
    const { answerMs } = this.#times;
    const answer = await ask(() => this.#handle.kill(), answerMs);
    if (answer.kind === 'refused') this.#trouble = answer.error;
    if (answer.kind !== 'given') return false;
    await this.#gone();
    return true;
  }

  async #gone(): Promise<void> {
    await ask(() => this.#exited, Math.min(this.#times.answerMs, GONE_MS));
  }

  #outcome(reason: StopReason): ClientOutcome {
    if (reason === 'timedOut' || reason === 'cancelled') return { kind: reason };
    const { exitCode, signal } = this.#status ?? {};
    if (typeof exitCode === 'number') return { kind: 'exited', exitCode };
    if (typeof signal === 'string') return { kind: 'signaled', signal };
    if (reason !== 'lost') return { kind: 'unknown' };
    return { kind: 'unknown', reason: lineOf(this.#trouble) };
  }
}

/** Gives a terminal back, which ends what runs in it; whether the client took it. */
export async function releaseTerminal(
  handle: ClientTerminalHandle,
  answerMs: number,
): Promise<boolean> {
  const answer = await ask(() => handle.release(), answerMs);
  return answer.kind === 'given';
}

/** What an error says, in one line. */
export function lineOf(error: unknown): string {
  const message = messageOf(error);
  const details = detailsOf(error);
  const whole = details === undefined ? message : `${message}: ${details}`;
  return wellFormed(whole).replace(/\s+/g, ' ').trim();
}

/** The protocol's "Internal error" has what went wrong beside it. */
function detailsOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('data' in error)) return undefined;
  const { data } = error;
  if (typeof data !== 'object' || data === null || !('details' in data)) return undefined;
  return typeof data.details === 'string' ? data.details : undefined;
}

function isKnown(status: ClientExitStatus | undefined): boolean {
  return typeof status?.exitCode === 'number' || typeof status?.signal === 'string';
}

/**
 * A terminal ends its lines with CR LF, here perhaps the half of one, as the client may have cut
 * anywhere; NUL stands as anywhere.
 */
function plainText(output: string): string {
  const whole = output.endsWith('\r') ? output.slice(0, -1) : output;
  return wellFormed(whole).replaceAll('\r\n', '\n').replaceAll('\0', '␀');
}
