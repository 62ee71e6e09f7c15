import type { IBuffer, Terminal } from '@xterm/headless';
import type { TerminalSize } from '../../../options/terminal.js';
import {
  createTerminal,
  readRow,
  screenText,
  withoutFinalBlankLines,
} from '../../../terminal/emulator.js';
import { PacedWriter } from '../../../terminal/paced-write.js';
import { ansiRow } from '../../../terminal/style.js';

/** Modes that another terminal needs to go on from here: keys, cursor, mouse, pastes. */
const COPIED: readonly number[] = [
  ...[1, 5, 7, 9, 12, 25, 66],
  ...[1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004],
];

/** A copy of a command's terminal, made from what the command has printed. */
export class Replica {
  readonly #terminal: Terminal;
  readonly #writer: PacedWriter;
  /** The private modes that were set or reset. */
  readonly #modes = new Map<number, boolean>();
  /** The rows that scroll, counted from 1; undefined: all. */
  #scrolled: readonly [number, number] | undefined;

  private constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#writer = new PacedWriter(terminal);
    this.#noteModes();
  }

  static async create(size: TerminalSize): Promise<Replica> {
    return new Replica(await createTerminal(size, 0));
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#writer.write(bytes);
  }

  resize({ columns, rows }: TerminalSize): void {
    this.#scrolled = undefined;
    this.#terminal.resize(columns, rows);
  }

  get size(): TerminalSize {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  /** The private modes that were set or reset, by their numbers. */
  get modes(): ReadonlyMap<number, boolean> {
    return this.#modes;
  }

  /** Whether the screen is that of a program that takes all of it. */
  get isAlternate(): boolean {
    return this.#terminal.buffer.active.type === 'alternate';
  }

  /** Returns the screen as plain text, without blank lines at its end. */
  text(): string {
    const { active } = this.#terminal.buffer;
    return withoutFinalBlankLines(screenText(active, 0, active.length));
  }

  /**
   * Returns what makes another terminal show the same, and go on from there.
   *
   * @param isBounded Whether the other terminal is larger, and must scroll in these rows alone.
   */
  drawing(isBounded: boolean): string {
    const { buffer, modes, rows } = this.#terminal;
    const copied = COPIED.filter((mode) => this.#modes.has(mode));
    const [top, bottom] = this.#scrolled ?? [1, rows];
    const isScrolledPart = isBounded || this.#scrolled !== undefined;
    return [
      '\x1b[0m\x1b[r',
      this.#draw(buffer.normal),
      this.isAlternate ? `\x1b[?1049h${this.#draw(buffer.alternate)}` : '',
      ...copied.map((mode) => `\x1b[?${mode}${this.#modes.get(mode) ? 'h' : 'l'}`),
      modes.applicationKeypadMode ? '\x1b=' : '',
      isScrolledPart ? `\x1b[${top};${bottom}r${this.#cursor(buffer.active)}` : '',
    ].join('');
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  #draw(buffer: IBuffer): string {
    const { cols, rows } = this.#terminal;
    let drawn = '\x1b[H\x1b[2J';
    for (let index = 0; index < rows; index += 1) {
      const { row } = readRow(buffer, index, cols);
      if (row.length > 0) drawn += `\x1b[${index + 1};1H${ansiRow(row)}`;
    }
    return drawn + this.#cursor(buffer);
  }

  #cursor({ cursorX, cursorY }: IBuffer): string {
    const column = Math.min(cursorX + 1, this.#terminal.cols);
    return `\x1b[${cursorY + 1};${column}H`;
  }

  #noteModes(): void {
    const { parser } = this.#terminal;
    const note = (isSet: boolean) => (params: readonly (number | number[])[]) => {
      for (const mode of params) this.#modes.set(Number(mode), isSet);
      // The terminal handles the sequence as well.
      return false;
    };
    parser.registerCsiHandler({ prefix: '?', final: 'h' }, note(true));
    parser.registerCsiHandler({ prefix: '?', final: 'l' }, note(false));
    parser.registerCsiHandler({ final: 'r' }, ([top, bottom]) => {
      const { rows } = this.#terminal;
      const [first, last] = [Number(top || 1), Math.min(Number(bottom || rows), rows)];
      this.#scrolled = first < last && (first > 1 || last < rows) ? [first, last] : undefined;
      return false;
    });
    parser.registerEscHandler({ final: 'c' }, () => {
      this.#modes.clear();
      this.#scrolled = undefined;
      return false;
    });
  }
}
