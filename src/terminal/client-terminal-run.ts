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
import { ask, type ClientAnswer, type Stop } from './client-terminal-wait.js';

/** Why the wait for a command ended. `lost`: the client no longer answers. */
export type StopReason = 'exited' | 'timedOut' | 'cancelled' | 'lost';

export interface ClientTimes {
  /** Time between two polls of the output, in milliseconds. */
  readonly pollMs: number;
  /** Time for one answer of the client, in milliseconds. */
  readonly answerMs: number;
}

/** Time for a killed command to exit, so that its last output can be read. */
const GONE_MS = 1000;

/** One command in a terminal that the client has created. */
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

  /** Follows the command to its end, and releases the terminal in any case. */
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
      // The output showed the end without a status; the answer of `waitForExit()` may have it.
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
      // Some clients fail here; then the polled output shows the end.
      this.#trouble = error;
      this.#waitFailed = true;
    }
  }

  /** Polls the output until there is a reason to stop. Returns whether the last poll saw the end. */
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

  #ask(): Promise<ClientAnswer<ClientTerminalOutput>> {
    return ask(() => this.#handle.currentOutput(), this.#times.answerMs);
  }

  /** Polls the output once more. Returns whether the client answered. */
  async #look(): Promise<boolean> {
    const answer = await this.#ask();
    this.#take(answer);
    return answer.kind === 'given';
  }

  /** Takes an answer. Returns whether it says that the command has ended. */
  #take(answer: ClientAnswer<ClientTerminalOutput>): boolean {
    if (answer.kind === 'refused') this.#trouble = answer.error;
    if (answer.kind !== 'given') return false;
    // The answer of a client has not been validated.
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

  /** Ends the command and waits briefly until it is gone. Returns whether the client accepted the call. */
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

/** Releases a terminal, which ends its command. Returns whether the client accepted the call. */
export async function releaseTerminal(
  handle: ClientTerminalHandle,
  answerMs: number,
): Promise<boolean> {
  const answer = await ask(() => handle.release(), answerMs);
  return answer.kind === 'given';
}

/** Formats an error's message on one line. */
export function lineOf(error: unknown): string {
  const message = messageOf(error);
  const details = detailsOf(error);
  const whole = details === undefined ? message : `${message}: ${details}`;
  return wellFormed(whole).replace(/\s+/g, ' ').trim();
}

/** Returns the details that the protocol's "Internal error" has in its data. */
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
 * Converts CR LF to LF, drops a final CR, where the client may have cut the text, and shows NUL as
 * elsewhere.
 */
function plainText(output: string): string {
  const whole = output.endsWith('\r') ? output.slice(0, -1) : output;
  return wellFormed(whole).replaceAll('\r\n', '\n').replaceAll('\0', '␀');
}
