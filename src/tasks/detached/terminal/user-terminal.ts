import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import { nearestSize, type TerminalSize } from '../../../options/terminal.js';
import { ShownModes } from './shown-modes.js';

/** Callbacks for what happens on a user's terminal. */
interface UserEvents {
  /** Keys were typed. */
  keys(data: Uint8Array): void;
  /** The window has another size. */
  resize(size: TerminalSize): void;
  /** The terminal shows something else now: the process was stopped, and goes on. */
  redraw(): void;
  /** The terminal is gone. */
  gone(): void;
}

/** A user's terminal in raw mode, from its making until it is given back. */
export class UserTerminal {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #events: UserEvents;
  readonly #wasRaw: boolean;
  readonly #wasFlowing: boolean;
  readonly modes = new ShownModes();
  #isHeld = true;

  constructor(input: ReadStream, output: WriteStream, events: UserEvents) {
    this.#input = input;
    this.#output = output;
    this.#events = events;
    this.#wasRaw = input.isRaw;
    this.#wasFlowing = input.readableFlowing === true;
    input.setRawMode(true);
    input.on('data', this.#onData);
    input.on('end', this.#onGone);
    input.on('error', this.#onGone);
    output.on('resize', this.#onResize);
    output.on('error', this.#onGone);
    process.on('exit', this.#onExit);
    process.on('SIGTSTP', this.#onStop);
    process.on('SIGCONT', this.#onContinue);
    input.resume();
  }

  /** The size of the window, or the nearest one that a task's terminal may have. */
  get size(): TerminalSize {
    // A terminal that was never given a size tells 0, and programs take it for a usual one.
    return nearestSize({ columns: this.#output.columns || 80, rows: this.#output.rows || 24 });
  }

  /** Writes. Settles when the terminal has taken it, or is gone. */
  write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#output.write(data, () => resolve()));
  }

  /** Reads no keys for now. */
  holdKeys(isHeld: boolean): void {
    if (isHeld) this.#input.pause();
    else if (this.#isHeld) this.#input.resume();
  }

  /**
   * Gives the terminal back as it was.
   *
   * @param last Written at the end.
   */
  giveBack(last: string): void {
    this.#isHeld = false;
    this.#input.off('data', this.#onData);
    this.#input.off('end', this.#onGone);
    this.#input.off('error', this.#onGone);
    this.#output.off('resize', this.#onResize);
    process.off('exit', this.#onExit);
    process.off('SIGTSTP', this.#onStop);
    process.off('SIGCONT', this.#onContinue);
    this.#setRaw(this.#wasRaw);
    // A flowing stream keeps the process alive.
    if (!this.#wasFlowing) this.#input.pause();
    this.#output.write(this.modes.ending() + last, () => this.#output.off('error', this.#onGone));
  }

  readonly #onData = (data: Buffer | string): void =>
    this.#events.keys(typeof data === 'string' ? Buffer.from(data) : data);

  readonly #onGone = (): void => this.#events.gone();

  readonly #onResize = (): void => this.#events.resize(this.size);

  /** The process exits all the same: only synchronous work is possible. */
  readonly #onExit = (): void => this.#giveBackNow();

  readonly #onStop = (): void => {
    this.#giveBackNow();
    process.kill(process.pid, 'SIGSTOP');
  };

  readonly #onContinue = (): void => {
    // Another process has set the modes meanwhile, so what Node knows of them may be wrong.
    this.#setRaw(false);
    this.#setRaw(true);
    this.#events.redraw();
  };

  #giveBackNow(): void {
    this.#setRaw(this.#wasRaw);
    try {
      writeSync((this.#output as WriteStream & { readonly fd: number }).fd, this.modes.ending());
    } catch {
      // The terminal is closed, or takes nothing: there is nothing to restore.
    }
  }

  #setRaw(isRaw: boolean): void {
    try {
      this.#input.setRawMode(isRaw);
    } catch {
      // The terminal is closed.
    }
  }
}
