import type { IBuffer, IBufferCell, Terminal } from '@xterm/headless';
import { lateLibrary } from '../engine/late-library.js';
import type { TerminalSize } from '../options/terminal.js';
import { copyLook, styleOf } from './cell.js';
import { PacedWriter, type Written } from './paced-write.js';
import type { ScreenNews } from './screen/screen-news.js';
import { ToldScreen, wrappedLength } from './screen/told-screen.js';
import { PLAIN } from './style.js';
import type { ConsoleFrame, ConsoleRow, StyledText } from './ui.js';

const loadTerminals = lateLibrary('the terminal', () => import('@xterm/headless'));

/**
 * Loads the library ahead, for a tool that will need terminals. A failure is reported when a terminal is
 * created.
 */
export function preloadTerminals(): void {
  loadTerminals().catch(() => {});
}

/**
 * Creates a terminal that is drawn nowhere. The library is loaded when the first one is needed.
 *
 * @throws {LaunchError} No free file descriptor is left to load it with.
 */
export async function createTerminal(size: TerminalSize, scrollback: number): Promise<Terminal> {
  const { default: headless } = await loadTerminals();
  return new headless.Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback,
    allowProposedApi: true,
    logLevel: 'off',
  });
}

/** The screen of one command: bytes in, frames out. */
export class Emulator {
  readonly #terminal: Terminal;
  readonly #writer: PacedWriter;
  readonly #told: ToldScreen;
  #cursorVisible = true;
  /** The look of each row in the last frame. */
  #drawn: string[] = [];
  #drawnRest = '';

  private constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#writer = new PacedWriter(terminal);
    this.#told = new ToldScreen(terminal);
    const show = (visible: boolean) => (params: readonly (number | number[])[]) => {
      if (params.includes(25)) this.#cursorVisible = visible;
      // The terminal handles the sequence as well.
      return false;
    };
    terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, show(true));
    terminal.parser.registerCsiHandler({ prefix: '?', final: 'l' }, show(false));
    terminal.parser.registerEscHandler({ final: 'c' }, () => show(true)([25]));
  }

  /** @param scrollback The most rows that are kept above the screen, which are never drawn. */
  static async create(size: TerminalSize, scrollback = 0): Promise<Emulator> {
    return new Emulator(await createTerminal(size, scrollback));
  }

  /** Registers a listener to the terminal's own replies: the cursor's position, its features. */
  onReply(listener: (data: string) => void): void {
    this.#terminal.onData(listener);
  }

  /** Writes all of the data unless that is more work than allowed; the event loop runs in between. */
  write(data: string | Uint8Array, mostWork?: number): Promise<Written> {
    return this.#writer.write(data, mostWork);
  }

  /** Returns whether the next output begins a line. */
  get isAtLineStart(): boolean {
    return this.#terminal.buffer.active.cursorX === 0;
  }

  /** Resizes the terminal. The next frame has all rows as changed. */
  resize({ columns, rows }: TerminalSize): void {
    this.#told.resize(columns, rows);
    this.#drawn = [];
  }

  /** Returns whether the command wants cursor keys as `\x1bOA` and not as `\x1b[A`. */
  get applicationCursorKeys(): boolean {
    return this.#terminal.modes.applicationCursorKeysMode;
  }

  /** Returns the screen, unless it has not changed since the last frame. */
  frame(): ConsoleFrame | undefined {
    const { cols: columns, rows: height, buffer, modes } = this.#terminal;
    const { cursorX, cursorY } = buffer.active;
    const rows: ConsoleRow[] = [];
    const changed: number[] = [];
    for (let index = 0; index < height; index += 1) {
      const { row, look } = readRow(buffer.active, index, columns);
      if (this.#drawn[index] !== look) changed.push(index);
      this.#drawn[index] = look;
      rows.push(row);
    }
    const visible = this.#cursorVisible;
    const cursor = { column: Math.min(cursorX, columns - 1), row: cursorY, visible };
    const rest = {
      size: { columns, rows: height },
      cursor,
      bracketedPaste: modes.bracketedPasteMode,
    };
    const restLook = JSON.stringify(rest);
    if (changed.length === 0 && restLook === this.#drawnRest) return undefined;
    this.#drawnRest = restLook;
    return { ...rest, rows, changed };
  }

  /** Returns the screen as plain text, without blank lines at its end. */
  text(): string {
    const { active } = this.#terminal.buffer;
    return withoutFinalBlankLines(screenText(active, active.baseY, active.length));
  }

  /**
   * Returns what has changed since the last look, or all; the rows above the screen that are kept belong to
   * it.
   */
  look(wanted: 'new' | 'all'): ScreenNews {
    return this.#told.look(this.#cursorVisible, wanted);
  }

  dispose(): void {
    this.#terminal.dispose();
  }
}

/** A row, and a key that differs from that of any row with another look. */
interface ReadRow {
  readonly row: ConsoleRow;
  readonly look: string;
}

/** Reads a row of the screen. */
export function readRow(buffer: IBuffer, index: number, columns: number): ReadRow {
  const line = buffer.getLine(buffer.baseY + index);
  const row: StyledText[] = [];
  const look = { flags: -1, foregroundMode: 0, foreground: 0, backgroundMode: 0, background: 0 };
  let whole = '';
  let text = '';
  let style = PLAIN;
  let cell: IBufferCell | undefined;
  for (let column = 0; column < columns; column += 1) {
    cell = line?.getCell(column, cell);
    // The second half of a wide character has no width of its own.
    if (cell === undefined || cell.getWidth() === 0) continue;
    if (copyLook(cell, look)) {
      if (text !== '') row.push({ text, style });
      const { flags, foregroundMode, foreground, backgroundMode, background } = look;
      // NUL is in no cell, so it can separate.
      whole += `${text}\0${flags},${foregroundMode},${foreground},${backgroundMode},${background}\0`;
      text = '';
      style = styleOf(cell, flags);
    }
    text += cell.getChars() || ' ';
  }
  whole += text;
  const shown = style === PLAIN ? text.trimEnd() : text;
  if (shown !== '') row.push({ text: shown, style });
  return { row, look: whole };
}

/** Returns lines of a buffer as text; wrapped rows are joined to one line. */
export function screenText(buffer: IBuffer, from: number, to: number): string {
  let text = '';
  for (let index = from; index < to; index += 1) {
    const line = buffer.getLine(index);
    if (line === undefined) break;
    const next = buffer.getLine(index + 1);
    if (next?.isWrapped) text += line.translateToString(false, 0, wrappedLength(line, next));
    else text += `${line.translateToString(true)}\n`;
  }
  return text;
}

/** Removes the rows at the end that nothing was written to. */
export function withoutFinalBlankLines(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '\n') end -= 1;
  return end === text.length || end === 0 ? text.slice(0, end) : `${text.slice(0, end)}\n`;
}
