import type { IFunctionIdentifier, Terminal } from '@xterm/headless';

/** The size of one piece, in bytes or characters. Plain text of that size takes one or two milliseconds. */
const LARGEST = 8192;
const SMALLEST = 64;
const FIRST = 256;
/** The work after which the next piece is smaller: some 10 ms. */
const LONG_WORK = 25_000;
/** The largest count for a terminal of at most 400 columns; sequences with a larger one are skipped. */
const MOST_TIMES = 400;

const ESC = 0x1b;
const IND = 0x84;
const NEL = 0x85;

/**
 * How much of a text was written. Work is counted, not timed: the result for a text must not depend on
 * other load of the machine.
 */
export interface Written {
  /** Bytes or characters that were written. */
  readonly length: number;
  /** Whether some of the written text was more work than allowed, and was not carried out. */
  readonly ranOut: boolean;
}

/**
 * Writes to a terminal in pieces, between which the event loop runs. The cost of a byte differs by a
 * factor of ten thousand, so the size of a piece depends on the cost of the last ones.
 */
export class PacedWriter {
  readonly #terminal: Terminal;
  readonly #mostRows: number;
  #size = FIRST;
  /** Work that may still be done in this write, and work done in this piece. */
  #left = Number.POSITIVE_INFINITY;
  #done = 0;

  /** @param mostRows The most controls in a block that can each begin a row. */
  constructor(terminal: Terminal, mostRows = LARGEST) {
    this.#terminal = terminal;
    this.#mostRows = mostRows;
    this.#countWork();
  }

  /**
   * Writes until the work is used up, or to the end of the line in which it was exceeded: of the rest of
   * that line only the text is written.
   *
   * @param mostWork In units of some 0.4 microseconds; plain text costs nothing.
   * @param wrote Called after each block, always at the same places of the same text.
   */
  async write(
    data: string | Uint8Array,
    mostWork = Number.POSITIVE_INFINITY,
    wrote: () => void = () => {},
  ): Promise<Written> {
    this.#left = mostWork;
    let last = data.length;
    let ranOut = false;
    for (let at = 0; at < last; ) {
      const end = Math.min(last, endOfBlock(data, at, this.#mostRows));
      await this.#writeBlock(data, at, end);
      at = end;
      wrote();
      if (this.#left > 0 || ranOut) continue;
      ranOut = true;
      last = endOfLine(data, at);
    }
    return { length: last, ranOut };
  }

  async #writeBlock(data: string | Uint8Array, start: number, end: number): Promise<void> {
    for (let at = start; at < end; ) {
      const next = Math.min(end, at + this.#size);
      const piece = typeof data === 'string' ? data.slice(at, next) : data.subarray(at, next);
      this.#done = 0;
      await new Promise<void>((resolve) => this.#terminal.write(piece, resolve));
      this.#size =
        this.#done > LONG_WORK
          ? Math.max(SMALLEST, this.#size >> 2)
          : Math.min(LARGEST, this.#size << 1);
      at = next;
    }
  }

  /** Handles each sequence that is more work than its own characters. */
  #countWork(): void {
    const { parser } = this.#terminal;
    for (const { ids, work } of COSTLY) {
      for (const id of ids) {
        parser.registerCsiHandler(id, (params) => this.#isTooMuch(work, params));
      }
    }
    parser.registerEscHandler({ final: 'M' }, () => this.#isTooMuch(ofScrolls, [1]));
    parser.registerEscHandler({ final: 'c' }, () => this.#isTooMuch(ofReset, []));
    parser.registerEscHandler({ intermediates: '#', final: '8' }, () =>
      this.#isTooMuch(ofScreen, []),
    );
    // The target of a link is never asked for, and each link would be examined whenever a line scrolls off.
    parser.registerOscHandler(8, () => true);
  }

  /** Counts the work of a sequence. Returns whether it must not be carried out. */
  #isTooMuch(work: Work, params: Parameters): boolean {
    const done = work(this.#terminal, params);
    if (done === 0) return false;
    if (this.#left <= 0 || done === Number.POSITIVE_INFINITY) return true;
    this.#left -= done;
    this.#done += done;
    return false;
  }
}

type Parameters = readonly (number | number[])[];

/** Returns the work of a sequence on a terminal of that size; infinite: never carried out. */
type Work = (size: { readonly cols: number; readonly rows: number }, params: Parameters) => number;

/** A few bytes may ask for two thousand million repetitions, which would be done in one go. */
const ofTimes: Work = (_, [given]) => {
  const count = Math.max(1, Number(given ?? 1));
  return count > MOST_TIMES ? Number.POSITIVE_INFINITY : count;
};
const ofScrolls: Work = (size, params) =>
  ofTimes(size, params) * (16 + (size.cols >> 4) + (size.rows >> 2));
const ofScreen: Work = ({ cols, rows }) => (cols * rows) >> 4;
const ofReset: Work = (size, params) => 2000 + ofScreen(size, params);
/** Modes that switch the screen; the others cost nothing. */
const SCREENS: Parameters = [47, 1047, 1049];
const ofModes: Work = (size, params) =>
  params.some((mode) => SCREENS.includes(mode)) ? ofScreen(size, params) : 0;

/** Sequences that cost more than their characters, as xterm 6 carries them out. */
const COSTLY: readonly { readonly ids: readonly IFunctionIdentifier[]; readonly work: Work }[] = [
  { ids: [{ final: 'b' }, { final: 'I' }, { final: 'Z' }], work: ofTimes },
  { ids: ['S', 'T', 'L', 'M'].map((final) => ({ final })), work: ofScrolls },
  {
    ids: [
      { final: 'J' },
      { prefix: '?', final: 'J' },
      { intermediates: ' ', final: '@' },
      { intermediates: ' ', final: 'A' },
      { intermediates: "'", final: '}' },
      { intermediates: "'", final: '~' },
    ],
    work: ofScreen,
  },
  {
    ids: [
      { prefix: '?', final: 'h' },
      { prefix: '?', final: 'l' },
    ],
    work: ofModes,
  },
];

/** Returns the end of a block, which does not depend on how fast it is written. */
function endOfBlock(data: string | Uint8Array, at: number, mostRows: number): number {
  const most = at + LARGEST;
  if (mostRows >= LARGEST) return most;
  let rows = 0;
  for (let end = at; end < most && end < data.length; end += 1) {
    const code = typeof data === 'string' ? data.charCodeAt(end) : Number(data[end]);
    if ((code >= 0x0a && code <= 0x0c) || code === ESC || code === IND || code === NEL) rows += 1;
    if (rows === mostRows) return end + 1;
  }
  return most;
}

/** Returns the end of the line that contains the character before `at`. */
function endOfLine(data: string | Uint8Array, at: number): number {
  const newline =
    typeof data === 'string' ? data.indexOf('\n', at - 1) : data.indexOf(0x0a, at - 1);
  return newline === -1 ? data.length : newline + 1;
}
