import type { LiveProcess } from '../../index.js';
import { startTimer } from '../../support/timing.js';
import { clearStatus, note } from '../notes.js';

/** A command that signals can be passed on to. */
type Target = Pick<LiveProcess<unknown>, 'signal' | 'kill'>;

/** Signals by which a person or a runtime ends a command. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Signals that the command gets first, since it may have a handler. */
const PASSED_ON: readonly NodeJS.Signals[] = ['SIGINT', 'SIGHUP'];

/**
 * The time between two steps of ending the command, in milliseconds: as long as the engine waits from
 * SIGTERM to SIGKILL.
 */
const STEP_MS = 5000;

/** The time within which an end needs no note, in milliseconds. */
const SILENT_MS = 500;

/**
 * The time within which the same signal is taken for a copy, in milliseconds: launchers such as npm
 * pass on what the terminal has sent.
 */
const ECHO_MS = 100;

/**
 * Applies signals to this process to the command. The command is in a session of its own, where the
 * keys of the user's terminal do not reach it: Ctrl-C is passed on, then SIGTERM and SIGKILL follow;
 * Ctrl-Z stops the command with this process.
 */
export class CommandSignals {
  readonly #ending = new AbortController();
  #target: Target | undefined;
  #endedBy: NodeJS.Signals | undefined;
  /** The last signal that was sent to the command. */
  #sent: NodeJS.Signals | undefined;
  #last: { readonly name: NodeJS.Signals; readonly at: number } | undefined;
  #stopTimers: (() => void)[] = [];

  constructor() {
    for (const name of ENDING) process.on(name, this.#onEnding);
  }

  /** Aborted when the command gets SIGTERM, or must not start any more. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** The signal that has caused the end, if there was one. */
  get endedBy(): NodeJS.Signals | undefined {
    return this.#endedBy;
  }

  /** Takes the running command. */
  attach(target: Target): void {
    this.#target = target;
    process.on('SIGTSTP', this.#onStop);
    process.on('SIGQUIT', this.#onQuit);
  }

  /** Ends the command as if `name` had been received: SIGTERM, grace, SIGKILL. */
  end(name: NodeJS.Signals): void {
    this.#endedBy ??= name;
    this.#terminate();
  }

  /** Stops handling signals. */
  release(): void {
    this.#clearTimers();
    this.#target = undefined;
    for (const name of ENDING) process.off(name, this.#onEnding);
    process.off('SIGTSTP', this.#onStop);
    process.off('SIGQUIT', this.#onQuit);
  }

  readonly #onEnding = (name: NodeJS.Signals): void => {
    const now = performance.now();
    const isEcho = this.#last?.name === name && now - this.#last.at < ECHO_MS;
    this.#last = { name, at: now };
    if (isEcho) return;
    this.#endedBy ??= name;
    if (this.#sent === undefined && this.#target !== undefined && PASSED_ON.includes(name)) {
      this.#passOn(this.#target, name);
    } else if (this.#sent === 'SIGTERM') {
      this.#kill(name);
    } else {
      this.#terminate();
    }
  };

  #passOn(target: Target, name: NodeJS.Signals): void {
    this.#sent = name;
    void target.signal(name);
    this.#then(STEP_MS, () => this.#terminate());
    this.#announce(`${name} sent; SIGTERM`);
  }

  #terminate(): void {
    if (this.#sent === 'SIGTERM' || this.#sent === 'SIGKILL') return;
    this.#clearTimers();
    this.#sent = 'SIGTERM';
    this.#ending.abort();
    this.#announce('SIGTERM sent; SIGKILL');
  }

  #kill(name: NodeJS.Signals): void {
    this.#clearTimers();
    this.#sent = 'SIGKILL';
    if (this.#target === undefined) {
      // A command without a handle ends with this process: the keeper sees to that.
      this.release();
      process.kill(process.pid, name);
    } else {
      void this.#target.kill({ graceMs: 0 });
    }
  }

  #announce(what: string): void {
    this.#then(SILENT_MS, () => {
      note(`${what} follows in ${STEP_MS / 1000} s, or with the next Ctrl-C`);
    });
  }

  #then(ms: number, next: () => void): void {
    this.#stopTimers.push(startTimer(ms, next));
  }

  #clearTimers(): void {
    for (const stop of this.#stopTimers.splice(0)) stop();
  }

  /**
   * SIGQUIT asks some programs for a dump and ends others, so this process does not end before the
   * command.
   */
  readonly #onQuit = (): void => void this.#target?.signal('SIGQUIT');

  /** SIGTSTP itself has no effect on a process group without a shell on its terminal. */
  readonly #onStop = async (): Promise<void> => {
    const target = this.#target;
    clearStatus();
    await target?.signal('SIGSTOP');
    process.off('SIGTSTP', this.#onStop);
    // Returns when this process was continued; at once where no process could continue it.
    process.kill(process.pid, 'SIGTSTP');
    if (this.#target !== undefined) process.on('SIGTSTP', this.#onStop);
    await target?.signal('SIGCONT');
  };
}
