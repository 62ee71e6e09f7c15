import type { LiveProcess } from '../command/spawn.js';
import { inCallersContext } from '../engine/caller.js';
import type { BytesChunk, MergedResult, OutputChunk, StreamName } from '../engine/outcome.js';
import { nearestSize, type TerminalSize } from '../options/terminal.js';
import { describeThrown } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { formatSize } from '../support/text.js';
import { pause, settlesWithin } from '../support/timing.js';
import { Emulator } from './emulator.js';
import { FrameClock } from './frame-clock.js';
import { KeyReader } from './keys.js';
import type { ConsoleOverlay, EndKey, TerminalUi } from './ui.js';

/** A command in a console. */
type ConsoleProcess = Pick<
  LiveProcess<BytesChunk>,
  'write' | 'resize' | 'kill' | 'result' | typeof Symbol.asyncIterator
>;

/** Further listeners to the output of a command in a console. */
export interface ConsoleListeners {
  /** Called with the screen as text, whenever it has been drawn. */
  readonly onScreen?: ((text: string) => void) | undefined;
  /** Called with new output, escape sequences included. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
}

/** How a command in a console ended. */
export interface ConsoleRun {
  readonly result: MergedResult;
  /** Whether the user ended the command, by Esc or by closing the overlay. */
  readonly dismissed: boolean;
  /** The size of the terminal at the end. */
  readonly size: TerminalSize;
}

const DEFAULT_SIZE: TerminalSize = { columns: 120, rows: 40 };
/**
 * Bytes that may wait to be written to the terminal; further input is ignored, since a user does not type
 * that much.
 */
const MOST_INPUT = 1024 * 1024;
/**
 * The most waiting bytes for which replies of the terminal itself are added: output can request them
 * without end.
 */
const MOST_REPLIES = 4096;
/** A write to the screen that takes longer, in milliseconds, is followed by a pause as long. */
const LONG_WRITE_MS = 8;

/**
 * The work that one chunk may cost the terminal, about a fifth of a second; the rest is skipped, since
 * more output is coming.
 */
const MOST_WORK = 500_000;

/** How long the result waits for an overlay to close, in milliseconds. */
const CLOSE_PATIENCE_MS = 5000;

/** Shows one command in an overlay, and sends it the keys that are typed there. */
export class Console {
  readonly #emulator: Emulator;
  readonly #clock: FrameClock;
  readonly #keys: KeyReader;
  readonly #listeners: ConsoleListeners;
  readonly #endKey: EndKey;
  /** A decoder that keeps the bytes of an unfinished character. */
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #overlay: ConsoleOverlay | undefined;
  #process: ConsoleProcess | undefined;
  #size = DEFAULT_SIZE;
  /** Input that was typed before the command started. */
  #early: Uint8Array[] = [];
  #pendingInput = 0;
  #dismissed = false;
  #closed = false;

  private constructor(emulator: Emulator, listeners: ConsoleListeners, endKey: EndKey) {
    this.#emulator = emulator;
    this.#endKey = endKey;
    this.#listeners = listeners;
    // Events of the user interface tick the clock too, in a context of their own.
    this.#clock = new FrameClock(inCallersContext(() => this.#draw(), undefined));
    const handler = {
      forward: (bytes: Uint8Array) => this.#type(bytes, MOST_INPUT),
      end: () => this.#dismiss(),
      applicationCursorKeys: () => emulator.applicationCursorKeys,
    };
    this.#keys = new KeyReader(handler, endKey);
    emulator.onReply((data) => this.#type(Buffer.from(data, 'utf8'), MOST_REPLIES));
  }

  /**
   * Opens the overlay.
   *
   * @throws The error that the user interface throws: there is no overlay then.
   */
  static async open(
    ui: TerminalUi,
    command: string,
    listeners: ConsoleListeners = {},
    endKey: EndKey = 'Esc',
  ): Promise<Console> {
    const console = new Console(await Emulator.create(DEFAULT_SIZE), listeners, endKey);
    try {
      await console.#open(ui, command);
      return console;
    } catch (error) {
      await console.close();
      throw error;
    }
  }

  async #open(ui: TerminalUi, command: string): Promise<void> {
    const overlay = await ui.openConsole(
      { title: 'Console', command, ...(this.#endKey !== 'Esc' && { endKey: this.#endKey }) },
      {
        input: (data) => {
          if (!this.#closed) this.#keys.push(data);
        },
        resize: (size) => this.#resize(size),
        dismiss: () => this.#dismiss(),
      },
    );
    if (typeof overlay?.draw !== 'function' || typeof overlay.close !== 'function') {
      throw new TypeError('expected an overlay with draw() and close()');
    }
    this.#overlay = overlay;
    if (overlay.size !== undefined) this.#resize(overlay.size);
  }

  /** The size of the command's terminal at its start. */
  get size(): TerminalSize {
    return this.#size;
  }

  /** Shows a command until it ends. */
  async run(process: ConsoleProcess): Promise<ConsoleRun> {
    this.#process = process;
    process.resize(this.#size.columns, this.#size.rows);
    if (this.#dismissed) void process.kill();
    this.#pendingInput = 0;
    for (const bytes of this.#early.splice(0)) this.#type(bytes, MOST_INPUT);
    this.#clock.tick();
    try {
      for await (const chunk of process) await this.#show(chunk);
      this.#tell('output', this.#decoder.decode(), 0);
    } catch (error) {
      // The command could no longer be seen, or get keys.
      await process.kill();
      throw error;
    }
    const result = await process.result;
    if (!('output' in result)) throw new TypeError('expected a terminal to be one stream');
    return { result, dismissed: this.#dismissed, size: this.#size };
  }

  /** Draws the remaining output, and closes the overlay. Never throws. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#keys.stop();
    await this.#clock.finish();
    this.#closed = true;
    this.#emulator.dispose();
    try {
      const closed = await settlesWithin(this.#overlay?.close(), CLOSE_PATIENCE_MS, 'keepsAlive');
      if (!closed) warn('close', 'it does not come to an end');
    } catch (error) {
      warn('close', error);
    }
  }

  async #show({ stream, bytes, droppedBytes }: BytesChunk): Promise<void> {
    this.#tell(stream, this.#decoder.decode(bytes, { stream: true }), droppedBytes);
    await this.#showGap(droppedBytes);
    const begun = performance.now();
    const shown = await this.#emulator.write(bytes, MOST_WORK);
    await this.#showGap(bytes.length - shown.length);
    this.#clock.tick();
    const tookMs = performance.now() - begun;
    // A flood of output uses half of the main thread at most. Output that is not fetched meanwhile is
    // dropped.
    if (tookMs > LONG_WRITE_MS) await pause(tookMs);
  }

  async #showGap(bytes: number): Promise<void> {
    if (bytes === 0) return;
    // CAN ends a sequence that the gap has cut.
    await this.#emulator.write('\x18');
    const start = this.#emulator.isAtLineStart ? '' : '\r\n';
    await this.#emulator.write(`${start}[… ${formatSize(bytes)} not shown …]\r\n`);
  }

  #tell(stream: StreamName, text: string, droppedBytes: number): void {
    if (text !== '' || droppedBytes > 0) {
      this.#listeners.onOutput?.({ stream, text, droppedBytes });
    }
  }

  async #draw(): Promise<void> {
    const frame = this.#emulator.frame();
    if (frame === undefined || this.#overlay === undefined) return;
    try {
      await this.#overlay.draw(frame);
      this.#listeners.onScreen?.(this.#emulator.text());
    } catch (error) {
      // The command can no longer be seen, or get keys.
      this.#clock.stop();
      warn('draw', error);
      this.#dismiss();
    }
  }

  #type(bytes: Uint8Array, most: number): void {
    if (this.#closed || this.#pendingInput + bytes.length > most) return;
    this.#pendingInput += bytes.length;
    if (this.#process === undefined) {
      this.#early.push(bytes);
      return;
    }
    const written = (): void => {
      this.#pendingInput -= bytes.length;
    };
    // The command has ended, and the keys can be dropped.
    this.#process.write(bytes).then(written, written);
  }

  #resize(wanted: TerminalSize): void {
    if (this.#closed) return;
    // Also when the nearest size stays the same: the overlay that shows it has changed.
    this.#size = nearestSize(wanted);
    this.#emulator.resize(this.#size);
    this.#process?.resize(this.#size.columns, this.#size.rows);
    this.#clock.tick();
  }

  #dismiss(): void {
    if (this.#closed) return;
    // A second press does not wait for the grace period.
    void this.#process?.kill(this.#dismissed ? { graceMs: 0 } : {});
    this.#dismissed = true;
  }
}

function warn(method: string, error: unknown): void {
  warnHost(`the console's ${method}() failed: ${describeThrown(error)}`);
}
