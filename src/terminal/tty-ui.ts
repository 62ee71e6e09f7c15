import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import type { TerminalSize } from '../options/terminal.js';
import { InputError } from '../support/errors.js';
import { ansiRow } from './style.js';
import type {
  ConsoleEvents,
  ConsoleFrame,
  ConsoleOverlay,
  ConsoleRequest,
  TerminalUi,
} from './ui.js';

/** `process.stdout` when it is a terminal. */
type TtyOutput = WriteStream & { readonly fd: number };

/** Rows above the command's screen. */
const TITLE_ROWS = 1;
/** Switches to the alternate screen, without line wrapping: text that does not fit is cut off. */
const ENTER = '\x1b[?1049h\x1b[?7l\x1b[2J';
const LEAVE = '\x1b[?2004l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l';
/** The markers of a synchronized update, in terminals that support it. */
const [BEGIN_FRAME, END_FRAME] = ['\x1b[?2026h', '\x1b[?2026l'];

/**
 * Creates a user interface on a terminal: an overlay that takes all of it, on its alternate screen, and
 * restores it in any case. One overlay at a time.
 *
 * @throws {InputError} `input` or `output` is not a terminal.
 */
export function createTtyUi(input: ReadStream, output: TtyOutput): TerminalUi {
  if (!input?.isTTY) throw new InputError('input: expected a terminal, got something else');
  if (!output?.isTTY) throw new InputError('output: expected a terminal, got something else');
  let open = false;
  return {
    openConsole(request, events) {
      if (open) throw new InputError('openConsole: expected no open console, got one');
      open = true;
      return new TtyOverlay(input, output, request, events, () => {
        open = false;
      });
    },
  };
}

class TtyOverlay implements ConsoleOverlay {
  readonly #input: ReadStream;
  readonly #output: TtyOutput;
  readonly #request: ConsoleRequest;
  readonly #events: ConsoleEvents;
  readonly #closed: () => void;
  readonly #wasRaw: boolean;
  readonly #wasFlowing: boolean;
  /** Whether all rows are to be drawn, changed or not. */
  #stale = true;

  constructor(
    input: ReadStream,
    output: TtyOutput,
    request: ConsoleRequest,
    events: ConsoleEvents,
    closed: () => void,
  ) {
    this.#input = input;
    this.#output = output;
    this.#request = request;
    this.#events = events;
    this.#closed = closed;
    this.#wasRaw = input.isRaw;
    this.#wasFlowing = input.readableFlowing === true;
    input.setRawMode(true);
    input.on('data', this.#onData);
    input.on('end', this.#onGone);
    input.on('error', this.#onGone);
    output.on('resize', this.#onResize);
    output.on('error', this.#onGone);
    process.on('exit', this.#onExit);
    input.resume();
    output.write(ENTER);
  }

  get size(): TerminalSize {
    return { columns: this.#output.columns, rows: this.#output.rows - TITLE_ROWS };
  }

  draw(frame: ConsoleFrame): Promise<void> {
    const all = this.#stale;
    this.#stale = false;
    const changed = all ? frame.rows.keys() : frame.changed;
    const height = this.#output.rows - TITLE_ROWS;
    const rows = [...changed].filter((index) => index < height);
    const drawn = rows.map((index) => `${moveTo(index)}\x1b[2K${ansiRow(frame.rows[index] ?? [])}`);
    const { column, row, visible } = frame.cursor;
    const text = [
      BEGIN_FRAME,
      '\x1b[?25l',
      frame.bracketedPaste ? '\x1b[?2004h' : '\x1b[?2004l',
      all ? `\x1b[0m\x1b[2J${this.#title()}` : '',
      ...drawn,
      moveTo(row, column),
      visible ? '\x1b[?25h' : '',
      END_FRAME,
    ];
    // Resolves when the terminal has taken the frame: a slow one gets fewer frames.
    return new Promise((resolve) => this.#output.write(text.join(''), () => resolve()));
  }

  close(): void {
    this.#input.off('data', this.#onData);
    this.#input.off('end', this.#onGone);
    this.#input.off('error', this.#onGone);
    this.#output.off('resize', this.#onResize);
    process.off('exit', this.#onExit);
    this.#input.setRawMode(this.#wasRaw);
    // A flowing stream keeps the process alive.
    if (!this.#wasFlowing) this.#input.pause();
    this.#output.write(LEAVE, () => this.#output.off('error', this.#onGone));
    this.#closed();
  }

  readonly #onData = (data: Buffer | string): void => this.#events.input(data);

  readonly #onGone = (): void => this.#events.dismiss();

  readonly #onResize = (): void => {
    this.#stale = true;
    this.#events.resize(this.size);
  };

  /** The process exits while the overlay is open: only synchronous work is possible. */
  readonly #onExit = (): void => {
    try {
      this.#input.setRawMode(this.#wasRaw);
      writeSync(this.#output.fd, LEAVE);
    } catch {
      // The terminal is closed, so there is nothing to restore.
    }
  };

  #title(): string {
    const { columns } = this.#output;
    const command = this.#request.command.replace(CONTROLS, ' ');
    const { title, endKey } = this.#request;
    const keys = endKey ? `${endKey} twice ends it` : 'Esc ends it │ Ctrl-^ sends Esc';
    const text = ` ${title} │ ${keys} │ ${command}`;
    return `\x1b[1;1H\x1b[7m${text.slice(0, columns).padEnd(columns)}\x1b[0m`;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal would act upon them.
const CONTROLS = /[\x00-\x1f\x7f-\x9f]+/g;

/** Moves the cursor to a row and a column, counted from 0, below the title. */
function moveTo(row: number, column = 0): string {
  return `\x1b[${row + TITLE_ROWS + 1};${column + 1}H`;
}
