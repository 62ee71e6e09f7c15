import type { IFunctionIdentifier, Terminal } from '@xterm/headless';

/** The size of one piece, in bytes or characters. A plain one takes a millisecond or two. */
const LARGEST = 8192;
const SMALLEST = 64;
const FIRST = 256;
/** A piece that was so much work is followed by a smaller one: some 10 ms. */
const LONG_WORK = 25_000;
/** The largest count of a terminal that has 400 columns at most; more is left out. */
const MOST_TIMES = 400;

const ESC = 0x1b;
const IND = 0x84;
const NEL = 0x85;

/**
 * What becomes of a text, by how much of it was written. Work is counted, not timed: what is drawn of
 * a text must not depend on what else the machine does meanwhile.
 */
export interface Written {
  /** Bytes or characters. */
  readonly length: number;
  /** Some of what was written was more work than allowed, and was not carried out. */
  readonly ranOut: boolean;
}

/**
 * Writes to a terminal in pieces, between which others get their turns. What a byte costs differs by
 * a factor of ten thousand, so the pieces are as large as the last ones allow.
 */
export class PacedWriter {
  readonly #terminal: Terminal;
  readonly #mostRows: number;
  #size = FIRST;
  /** Work that may still be done in this write, and what was done in this piece. */
  #left = Number.POSITIVE_INFINITY;
  #done = 0;

  /** @param mostRows Controls that can begin a row each, of which a block has no more. */
  constructor(terminal: Terminal, mostRows = LARGEST) {
    this.#terminal = terminal;
    this.#mostRows = mostRows;
    this.#countWork();
  }

  /**
   * Writes until the work is done, or to the end of the line in which more was asked for than may be
   * done: of the rest of that line only the text is written.
   *
   * @param mostWork A unit takes some 0.4 microseconds; what is no more than text costs nothing.
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

  /** Hears of each sequence that is more work than its own characters. */
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
    // Nobody asks where a link leads, and each would be looked at whenever a line scrolls off.
    parser.registerOscHandler(8, () => true);
  }

  /** Counts what a sequence will be; true: it must not be carried out. */
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

/** How much work a sequence is on a terminal of that size; infinite: never carried out. */
type Work = (size: { readonly cols: number; readonly rows: number }, params: Parameters) => number;

/** A few bytes may ask for two thousand million times, which would be done in one go. */
const ofTimes: Work = (_, [given]) => {
  const count = Math.max(1, Number(given ?? 1));
  return count > MOST_TIMES ? Number.POSITIVE_INFINITY : count;
};
const ofScrolls: Work = (size, params) =>
  ofTimes(size, params) * (16 + (size.cols >> 4) + (size.rows >> 2));
const ofScreen: Work = ({ cols, rows }) => (cols * rows) >> 4;
const ofReset: Work = (size, params) => 2000 + ofScreen(size, params);
/** Modes by which another screen is shown; the others cost nothing. */
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

/** A block is as long however fast it is written. */
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

/** Where the line ends in which what is before `at` ends. */
function endOfLine(data: string | Uint8Array, at: number): number {
  const newline =
    typeof data === 'string' ? data.indexOf('\n', at - 1) : data.indexOf(0x0a, at - 1);
  return newline === -1 ? data.length : newline + 1;
}
