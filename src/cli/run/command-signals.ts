import type { LiveProcess } from '../../index.js';
import { startTimer } from '../../support/timing.js';
import { clearStatus, note } from '../notes.js';

/** A command that signals can be passed on to. */
type Target = Pick<LiveProcess<unknown>, 'signal' | 'kill'>;

/** What a person or a runtime sends to have a command end. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What a command may have a handler for, and gets first. */
const PASSED_ON: readonly NodeJS.Signals[] = ['SIGINT', 'SIGHUP'];

/** From one step of ending it to the next: as long as the engine waits from SIGTERM to SIGKILL. */
const STEP_MS = 5000;

/** What ends at once needs no words. */
const SILENT_MS = 500;

/** The same signal again so soon is a launcher such as npm passing on what the terminal sent. */
const ECHO_MS = 100;

/**
 * Does with the command what signals to this process ask for. It is in a session of its own, where
 * the keys of our terminal do not reach it: Ctrl-C is passed on, then SIGTERM and SIGKILL follow;
 * Ctrl-Z stops it with us.
 */
export class CommandSignals {
  readonly #ending = new AbortController();
  #target: Target | undefined;
  #endedBy: NodeJS.Signals | undefined;
  /** What has been sent to it last. */
  #sent: NodeJS.Signals | undefined;
  #last: { readonly name: NodeJS.Signals; readonly at: number } | undefined;
  #stopTimers: (() => void)[] = [];

  constructor() {
    for (const name of ENDING) process.on(name, this.#onEnding);
  }

  /** Aborted when it gets SIGTERM, or must not start any more. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** The signal that is the reason of the end, if there was one. */
  get endedBy(): NodeJS.Signals | undefined {
    return this.#endedBy;
  }

  /** The command runs. */
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

  /** Gives the signals back. */
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
      // What has no handle ends with us: the keeper sees to that.
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

  /** Asks for a dump in some programs, ends others; no reason for us to end before they do. */
  readonly #onQuit = (): void => void this.#target?.signal('SIGQUIT');

  /** SIGTSTP itself means nothing to a group that no shell on its terminal looks after. */
  readonly #onStop = async (): Promise<void> => {
    const target = this.#target;
    clearStatus();
    await target?.signal('SIGSTOP');
    process.off('SIGTSTP', this.#onStop);
    // Returns when we have been continued, or at once where nobody could continue us.
    process.kill(process.pid, 'SIGTSTP');
    if (this.#target !== undefined) process.on('SIGTSTP', this.#onStop);
    await target?.signal('SIGCONT');
  };
}
