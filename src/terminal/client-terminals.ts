import { basename } from 'node:path';
import { onAbort } from '../support/abort.js';
import { atLeast, checkString, type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { startTimer, UnderWay } from '../support/timing.js';
import {
  type ClientCommand,
  type ClientResult,
  type ClientTerminalConnection,
  ClientTerminalError,
  type ClientTerminalHandle,
  type ClientWatcher,
} from './client-terminal.js';
import {
  ClientRun,
  type ClientTimes,
  lineOf,
  releaseTerminal,
  type StopReason,
} from './client-terminal-run.js';
import { ask, Stop } from './client-terminal-wait.js';

/** Options for running commands in a client's terminals. */
export interface ClientTerminalOptions {
  /** The connection to the client, whose capabilities must include `terminal`. */
  readonly connection: ClientTerminalConnection;
  /** The session that the terminals belong to. */
  readonly sessionId: string;
  /** The shell on the client's machine. Default: the first of the tool's shells, or `/bin/bash`. */
  readonly shell?: string | undefined;
  /** Time between two polls of the output, in milliseconds. Default: 250. */
  readonly pollMs?: number | undefined;
  /** Time for one answer of the client, in milliseconds. Default: 5,000. */
  readonly answerMs?: number | undefined;
}

const NAMES: OptionNames<ClientTerminalOptions> = {
  connection: true,
  sessionId: true,
  shell: true,
  pollMs: true,
  answerMs: true,
};

/** Runs a tool's commands in the terminals of one client. */
export class ClientTerminals {
  readonly #connection: ClientTerminalConnection;
  readonly #sessionId: string;
  readonly #shell: string;
  readonly #times: ClientTimes;
  readonly #disposal = new AbortController();
  readonly #late = new UnderWay();

  /** @throws {InputError} An option is not valid. */
  constructor(given: ClientTerminalOptions, shell: string) {
    const options = readOptions('clientTerminal', given, NAMES, { within: 'clientTerminal.' });
    const { connection, sessionId } = options;
    if (typeof connection?.createTerminal !== 'function') {
      const got = showValue(connection);
      throw new InputError(
        `clientTerminal.connection: expected an object with createTerminal(), got ${got}`,
      );
    }
    if (typeof sessionId !== 'string') {
      const got = showValue(sessionId);
      throw new InputError(`clientTerminal.sessionId: expected a string, got ${got}`);
    }
    checkString('clientTerminal.shell', options.shell);
    this.#connection = connection;
    this.#sessionId = sessionId;
    this.#shell = options.shell ?? shell;
    this.#times = {
      pollMs: atLeast('clientTerminal.pollMs', 1, options.pollMs ?? 250),
      answerMs: atLeast('clientTerminal.answerMs', 1, options.answerMs ?? 5000),
    };
  }

  /**
   * Runs a command in a terminal of its own, to its end.
   *
   * @throws {ClientTerminalError} The client did not create one.
   */
  async run(
    command: ClientCommand,
    watcher: ClientWatcher,
    signal: AbortSignal | undefined,
  ): Promise<ClientResult> {
    const stop = new Stop<StopReason>();
    const cancellation = new AbortController();
    const cancel = (): void => {
      stop.tell('cancelled');
      cancellation.abort();
    };
    const signals = [this.#disposal.signal, ...(signal === undefined ? [] : [signal])];
    if (signals.some(({ aborted }) => aborted)) return withoutTerminal('cancelled', 0);
    const offs = signals.map((each) => onAbort(each, cancel));
    const stopTimer = startTimer(command.timeoutMs, () => stop.tell('timedOut'));
    try {
      const startedAt = performance.now();
      const creating = this.#create(command, cancellation.signal);
      const handle = await stop.orWork(creating);
      if (handle === undefined) {
        // The client is slow to answer, or asks its user.
        if (stop.reason === 'timedOut') cancellation.abort();
        this.#releaseLate(creating);
        const reason = stop.reason === 'timedOut' ? 'timedOut' : 'cancelled';
        return withoutTerminal(reason, performance.now() - startedAt);
      }
      watcher.created(handle.id);
      return await new ClientRun(handle, stop, this.#times, watcher, startedAt).finish();
    } finally {
      stopTimer();
      for (const off of offs) off();
    }
  }

  /** Ends running commands and releases all terminals, without waiting for a client that does not answer. */
  async dispose(): Promise<void> {
    this.#disposal.abort();
    await ask(() => this.#late.settled(), this.#times.answerMs);
  }

  async #create(command: ClientCommand, signal: AbortSignal): Promise<ClientTerminalHandle> {
    const env = Object.entries(command.env).map(([name, value]) => ({ name, value }));
    try {
      const handle = await this.#connection.createTerminal(
        {
          sessionId: this.#sessionId,
          command: this.#shell,
          args: [...quietly(this.#shell), '-c', command.text],
          env,
          cwd: command.cwd,
          outputByteLimit: command.outputByteLimit,
        },
        { cancellationSignal: signal },
      );
      if (typeof handle?.id === 'string') return handle;
      throw new TypeError(`expected a terminal with an id, got ${showValue(handle)}`);
    } catch (error) {
      throw new ClientTerminalError(lineOf(error), { cause: error });
    }
  }

  #releaseLate(creating: Promise<ClientTerminalHandle>): void {
    const released = creating.then(
      (handle) => releaseTerminal(handle, this.#times.answerMs),
      () => true,
    );
    void this.#late.add(released);
  }
}

/** bash, started by an editor that was itself started by ssh, would read `~/.bashrc` first. */
function quietly(shell: string): string[] {
  return basename(shell).startsWith('bash') ? ['--norc'] : [];
}

function withoutTerminal(kind: 'cancelled' | 'timedOut', durationMs: number): ClientResult {
  const nothing = { output: '', truncated: false, stale: false, mayStillRun: false };
  return { outcome: { kind }, ...nothing, durationMs };
}
