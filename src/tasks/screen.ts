import type { TerminalSize } from '../options/terminal.js';
import { formatSize } from '../support/text.js';
import { startTimer } from '../support/timing.js';
import { Emulator } from '../terminal/emulator.js';
import type { ScreenNews } from '../terminal/screen/screen-news.js';
import type { TaskSubject } from './subject.js';

const READ_BYTES = 64 * 1024;
/** Output that is drawn at most, in bytes; of more, only the end is, since each byte costs time. */
const MOST_BEHIND = 1024 * 1024;
const DRAWN_OF_MORE = 128 * 1024;
/** The work that one piece may cost, some 0.2 seconds: see `Emulator.write()`. */
const MOST_WORK = 500_000;
/** Rows above the screen that are kept for the next look. */
const SCROLLBACK = 400;
/** The least time between two drawings, in milliseconds, and as a multiple of what the last one took. */
const PAUSE_MS = 10;
const PAUSE_FACTOR = 4;
/** The most bytes of replies that are written at once: output can ask for them without end. */
const MOST_REPLIES = 4096;

/** The terminal screen of a task. */
export interface TaskScreen {
  /** Returns the current screen as text, without the blank lines at its end. */
  text(): Promise<string>;
  /** Returns what the screen shows that was not told by an earlier look, or all of it. */
  look(wanted: 'new' | 'all'): Promise<ScreenNews>;
  /** Returns whether the command wants cursor keys as `\x1bOA` and not as `\x1b[A`. */
  applicationCursorKeys(): Promise<boolean>;
  /** Changes the size of the drawn terminal, once the output so far is drawn. */
  resize(size: TerminalSize): Promise<void>;
  /**
   * From now on draws output as it comes, and answers what programs ask their terminal, such as where the
   * cursor is.
   *
   * @param onScreen Called with the screen as text when output has been drawn.
   */
  answer(onScreen?: (text: string) => void): void;
}

/** Creates the screen of a task. */
export function createTaskScreen(subject: TaskSubject, size: TerminalSize): TaskScreen {
  return new Screen(subject, size);
}

/** Draws output when the screen is read, or also as it comes. */
class Screen implements TaskScreen {
  readonly #subject: TaskSubject;
  readonly #emulator: Promise<Emulator>;
  #position = 0;
  /** A chain of reads, one at a time. */
  #looking: Promise<unknown> = Promise.resolve();
  #isAnswering = false;
  #onScreen: ((text: string) => void) | undefined;
  #isDue = false;
  #pauseMs = PAUSE_MS;

  constructor(subject: TaskSubject, size: TerminalSize) {
    this.#subject = subject;
    this.#emulator = Emulator.create(size, SCROLLBACK);
  }

  text(): Promise<string> {
    return this.#drawn((emulator) => emulator.text());
  }

  look(wanted: 'new' | 'all'): Promise<ScreenNews> {
    return this.#drawn((emulator) => emulator.look(wanted));
  }

  applicationCursorKeys(): Promise<boolean> {
    return this.#drawn((emulator) => emulator.applicationCursorKeys);
  }

  resize(size: TerminalSize): Promise<void> {
    return this.#drawn((emulator) => emulator.resize(size));
  }

  answer(onScreen?: (text: string) => void): void {
    if (this.#isAnswering) return;
    this.#onScreen = onScreen;
    this.#isAnswering = true;
    this.#emulator.then(
      (emulator) => emulator.onReply((data) => this.#reply(data)),
      // Each look reports the failure.
      () => {},
    );
    const stop = this.#subject.watch(() => {
      this.#drawSoon();
      if (this.#subject.state.kind !== 'running') stop();
    });
    this.#drawSoon();
  }

  #drawSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    startTimer(this.#pauseMs, () => {
      this.#isDue = false;
      const begun = performance.now();
      const done = (): void => {
        // A flood of output uses a fifth of the main thread at most.
        this.#pauseMs = PAUSE_MS + PAUSE_FACTOR * (performance.now() - begun);
      };
      this.#drawn((emulator) => this.#onScreen?.(emulator.text())).then(done, done);
    });
  }

  #reply(data: string): void {
    const { state } = this.#subject;
    if (state.kind !== 'running' || data.length > MOST_REPLIES) return;
    const mayAnswer = this.#subject.mayAnswer?.() ?? Promise.resolve(true);
    mayAnswer
      .then((is) => (is ? this.#subject.write(Buffer.from(data, 'utf8')) : undefined))
      // The command may have ended meanwhile.
      .catch(() => {});
  }

  #drawn<T>(then: (emulator: Emulator) => T): Promise<T> {
    const result = this.#looking.then(async () => {
      const emulator = await this.#emulator;
      await this.#draw(emulator);
      return then(emulator);
    });
    this.#looking = result.catch(() => {});
    return result;
  }

  /** Draws the output so far: more may come as fast as it can be drawn. */
  async #draw(emulator: Emulator): Promise<void> {
    let target = Number.POSITIVE_INFINITY;
    while (this.#position < target) {
      const { bytes, from, total } = await this.#subject.read(this.#position, READ_BYTES);
      if (bytes.length === 0) return;
      target = Math.min(target, total);
      if (target - this.#position > MOST_BEHIND) {
        await this.#skip(emulator, target - DRAWN_OF_MORE);
        continue;
      }
      if (from > this.#position) await this.#skip(emulator, from);
      this.#position = from + bytes.length;
      const { length } = await emulator.write(bytes, MOST_WORK);
      if (length < bytes.length) await showGap(emulator, bytes.length - length);
    }
  }

  async #skip(emulator: Emulator, to: number): Promise<void> {
    await showGap(emulator, to - this.#position);
    this.#position = to;
  }
}

async function showGap(emulator: Emulator, bytes: number): Promise<void> {
  // CAN ends a sequence that the gap has cut.
  await emulator.write('\x18');
  const start = emulator.isAtLineStart ? '' : '\r\n';
  await emulator.write(`${start}[… ${formatSize(bytes)} not shown …]\r\n`);
}
