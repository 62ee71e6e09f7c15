import { type FoundLine, type LinePattern, LineSearch } from '../lookout/lines.js';
import type { TaskSubject } from '../subject.js';
import type { Ledger } from './ledger.js';

const READ_BYTES = 64 * 1024;
/** How much output is searched before the position is noted, for a host that has to begin again. */
const NOTED_BYTES = 4 * 1024 * 1024;

/** Looks for the first line that matches, and reads no further. */
export class LineWatch {
  readonly #subject: TaskSubject;
  readonly #search: LineSearch;
  readonly #ledger: Ledger;
  #position: number;
  #noted: number;

  /** @param since Position of the output from which on lines count. */
  constructor(subject: TaskSubject, pattern: LinePattern, since: number, ledger: Ledger) {
    this.#subject = subject;
    this.#search = new LineSearch([pattern], since);
    this.#ledger = ledger;
    this.#position = since;
    this.#noted = since;
  }

  /** Returns the line, if it has been printed since the last look; not to be called after that. */
  async look(): Promise<FoundLine | undefined> {
    for (;;) {
      const { bytes, from } = await this.#subject.read(this.#position, READ_BYTES);
      if (bytes.length === 0) return undefined;
      if (from > this.#position) this.#search.gap(from);
      this.#position = from + bytes.length;
      const [found] = this.#search.push(bytes);
      if (found !== undefined) return found;
      if (this.#position - this.#noted >= NOTED_BYTES) {
        this.#noted = this.#position;
        this.#ledger.searched(this.#position);
      }
    }
  }
}

/** Returns whether a line that was told answers a pattern. */
export function matchesLine(line: string, pattern: LinePattern): boolean {
  return new LineSearch([pattern]).push(Buffer.from(line)).length > 0;
}
