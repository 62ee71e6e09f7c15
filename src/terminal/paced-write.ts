import type { Terminal } from '@xterm/headless';

/** The size of one piece, in bytes or characters. A plain one takes a millisecond or two. */
const LARGEST = 8192;
const SMALLEST = 64;
const FIRST = 1024;
/** A piece that took so long, in milliseconds, is followed by a smaller one. */
const LONG_MS = 10;
/** The largest count of a terminal that has 400 columns at most. */
const MOST_TIMES = 400;
/** Finals of sequences that do something as often as they say: REP, SU, SD, IL, DL, CHT, CBT. */
const COUNTED = ['b', 'S', 'T', 'L', 'M', 'I', 'Z'];

/**
 * A few bytes may ask for two thousand million repetitions, which the terminal would make in one go.
 * A count that no terminal has room for is left out.
 */
export function limitCounts(terminal: Terminal): void {
  for (const final of COUNTED) {
    terminal.parser.registerCsiHandler({ final }, ([count]) => Number(count) > MOST_TIMES);
  }
}

/**
 * Writes to a terminal in pieces, between which others get their turns. What a byte costs differs by
 * a factor of ten thousand, so the pieces are as large as the last ones allow.
 */
export class PacedWriter {
  readonly #terminal: Terminal;
  readonly #largest: number;
  #size = FIRST;

  /** @param largest Of a piece. */
  constructor(terminal: Terminal, largest = LARGEST) {
    this.#terminal = terminal;
    this.#largest = largest;
  }

  /**
   * Writes until the time is up, in milliseconds.
   *
   * @param wrote Called after each piece.
   * @returns How much has been written.
   */
  async write(
    data: string | Uint8Array,
    budgetMs = Number.POSITIVE_INFINITY,
    wrote: () => void = () => {},
  ): Promise<number> {
    const begun = performance.now();
    let at = 0;
    while (at < data.length && performance.now() - begun < budgetMs) {
      const end = Math.min(data.length, at + this.#size);
      const piece = typeof data === 'string' ? data.slice(at, end) : data.subarray(at, end);
      await this.#writePiece(piece);
      at = end;
      wrote();
    }
    return at;
  }

  async #writePiece(piece: string | Uint8Array): Promise<void> {
    const begun = performance.now();
    await new Promise<void>((resolve) => this.#terminal.write(piece, resolve));
    const isLong = performance.now() - begun > LONG_MS;
    this.#size = isLong
      ? Math.max(SMALLEST, this.#size >> 2)
      : Math.min(this.#largest, this.#size << 1);
  }
}
