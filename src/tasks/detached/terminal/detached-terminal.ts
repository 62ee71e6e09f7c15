import type { Typing } from '../../../engine/message.js';
import type { TerminalSize } from '../../../options/terminal.js';
import type { OutputStretch } from '../../subject.js';
import type { KeeperAnswer, KeeperCall } from '../keeper/message.js';
import { Replica } from './replica.js';
import { TerminalStream } from './stream.js';

/** As much as a keeper has in memory, in bytes. */
const LAST_BYTES = 256 * 1024;

/** A terminal's command, and the ways to its keeper. */
interface TerminalOwner {
  /** The directory of the task. */
  readonly directory: string;
  /** The size at the start. */
  readonly size: TerminalSize;
  /** Asks the keeper. Resolves with undefined when it is gone. */
  ask(call: KeeperCall): Promise<KeeperAnswer | undefined>;
  /** Reads output that is kept on the disk. */
  read(since: number, maxBytes: number): Promise<OutputStretch>;
}

/** The terminal of a detached command, which its keeper holds. */
export class DetachedTerminal {
  readonly #owner: TerminalOwner;
  #size: TerminalSize;
  /** What its screen shows, up to a position in its output. */
  #replica: Replica | undefined;
  #shownTo = 0;
  /** A chain of looks, one at a time. */
  #looking: Promise<unknown> = Promise.resolve();

  constructor(owner: TerminalOwner) {
    this.#owner = owner;
    this.#size = owner.size;
  }

  /** The size of this process's window, or else that at the start. */
  get size(): TerminalSize {
    return this.#size;
  }

  /**
   * Sets the size of this process's window, which counts until this process ends. The terminal gets the
   * smallest of all windows: the fewest columns, and the fewest rows.
   *
   * @param redraw Whether the programs in the foreground get SIGWINCH even if the size stays.
   * @returns The size that the terminal has now; undefined: no keeper answers.
   */
  async resize(size: TerminalSize, redraw = false): Promise<TerminalSize | undefined> {
    this.#size = size;
    const answer = await this.#owner.ask({ kind: 'resize', size, redraw });
    if (answer?.kind !== 'terminal') return undefined;
    const { columns, rows } = answer.terminal;
    return { columns, rows };
  }

  /** Gives up this process's window. */
  async leave(): Promise<void> {
    await this.#owner.ask({ kind: 'resize', size: { columns: 0, rows: 0 }, redraw: false });
  }

  /** Returns whether this process's window is the oldest of all, or no process has one. */
  async isFirst(): Promise<boolean> {
    const answer = await this.#owner.ask({ kind: 'look' });
    return answer?.kind === 'terminal' && answer.terminal.isFirst;
  }

  /** Returns how the terminal takes what is typed; undefined: no keeper answers. */
  async typing(): Promise<Typing | undefined> {
    const answer = await this.#owner.ask({ kind: 'look' });
    if (answer?.kind !== 'terminal') return undefined;
    const { canonical, echoes } = answer.terminal;
    if (!canonical) return 'keys';
    return echoes ? 'lines' : 'hidden';
  }

  /**
   * Follows the terminal from a position in its output on.
   *
   * @throws No keeper answers.
   */
  follow(since: number, live: boolean): Promise<TerminalStream> {
    return TerminalStream.open(this.#owner.directory, since, live);
  }

  /**
   * Returns the screen as plain text, without blank lines at its end. It is made from the last 256 KiB of
   * the output: what was drawn earlier and never again is not on it.
   */
  text(): Promise<string> {
    const text = this.#looking.then(() => this.#text());
    this.#looking = text.catch(() => {});
    return text;
  }

  async #text(): Promise<string> {
    const stream = await this.follow(this.#shownTo, false).catch(() => undefined);
    const isWhole = stream !== undefined && (await this.#copy(stream));
    if (!isWhole) await this.#copyFile();
    return this.#replica?.text() ?? '';
  }

  /** Copies the output so far. Returns false when the keeper was gone before all was told. */
  async #copy(stream: TerminalStream): Promise<boolean> {
    try {
      for (;;) {
        const message = await stream.next();
        if (message === undefined || message.kind === 'done') return message !== undefined;
        if (message.kind === 'resized') {
          this.#replica?.resize(message.size);
          this.#replica ??= await Replica.create(message.size);
          continue;
        }
        const { from, modes, bytes } = message;
        if (from > this.#shownTo) await this.#begin(modes);
        await this.#replica?.write(bytes);
        this.#shownTo = from + bytes.length;
      }
    } finally {
      stream.close();
    }
  }

  /** Begins again after a gap. */
  async #begin(modes: Uint8Array): Promise<void> {
    const size = this.#replica?.size ?? this.#owner.size;
    this.#replica?.dispose();
    this.#replica = await Replica.create(size);
    await this.#replica.write(modes);
  }

  /** Copies the rest from the output file, when the command has ended. */
  async #copyFile(): Promise<void> {
    this.#replica ??= await Replica.create(this.#owner.size);
    const { total } = await this.#owner.read(Number.MAX_SAFE_INTEGER, 0);
    const since = Math.max(this.#shownTo, total - LAST_BYTES);
    if (since > this.#shownTo) await this.#begin(new Uint8Array());
    const { bytes, from } = await this.#owner.read(since, LAST_BYTES);
    await this.#replica.write(bytes);
    this.#shownTo = from + bytes.length;
  }
}
