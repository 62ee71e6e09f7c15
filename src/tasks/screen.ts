import type { TerminalSize } from '../options/terminal.js';
import { Emulator } from '../terminal/emulator.js';
import type { TaskSubject } from './subject.js';

const READ_BYTES = 64 * 1024;

/** What is on the terminal of a task. */
export interface TaskScreen {
  /** The screen now as text, without the blank lines at its end. */
  text(): Promise<string>;
}

/** The screen of a task. */
export function createTaskScreen(subject: TaskSubject, size: TerminalSize): TaskScreen {
  return new Screen(subject, size);
}

/** Drawn only as far as somebody looks. */
class Screen implements TaskScreen {
  readonly #subject: TaskSubject;
  readonly #emulator: Promise<Emulator>;
  #position = 0;
  /** Looks come one after the other. */
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
