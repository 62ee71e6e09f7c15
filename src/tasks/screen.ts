import type { TerminalSize } from '../options/terminal.js';
import { Emulator } from '../terminal/emulator.js';
import type { TaskSubject } from './subject.js';

const READ_BYTES = 64 * 1024;

/** The terminal screen of a task. */
export interface TaskScreen {
  /** Returns the current screen as text, without the blank lines at its end. */
  text(): Promise<string>;
}

/** Creates the screen of a task. */
export function createTaskScreen(subject: TaskSubject, size: TerminalSize): TaskScreen {
  return new Screen(subject, size);
}

/** Draws output only when the screen is read. */
class Screen implements TaskScreen {
  readonly #subject: TaskSubject;
  readonly #emulator: Promise<Emulator>;
  #position = 0;
  /** A chain of reads, one at a time. */
  #looking: Promise<unknown> = Promise.resolve();

  constructor(subject: TaskSubject, size: TerminalSize) {
    this.#subject = subject;
    this.#emulator = Emulator.create(size);
  }

  text(): Promise<string> {
    const text = this.#looking.then(() => this.#draw());
    this.#looking = text.catch(() => {});
    return text;
  }

  async #draw(): Promise<string> {
    const emulator = await this.#emulator;
    for (;;) {
      const { bytes, from } = await this.#subject.read(this.#position, READ_BYTES);
      if (bytes.length === 0) return emulator.text();
      await emulator.write(bytes);
      this.#position = from + bytes.length;
    }
  }
}
