import { onBehalfOfNobody } from '../engine/caller.js';
import { PipeReader } from './pipe-reader.js';
import { type NamedPipe, pathByDescriptor } from './pipes.js';
import type { ReportWay } from './script.js';

/** A line of a shell's script is over. */
export interface Report {
  /** `$?` after it; undefined: its text was not run, since its streams could not be opened. */
  readonly status: number | undefined;
  /** The options of `set` that were on at its end. */
  readonly options: ReadonlySet<string>;
}

/** Which line, `$SHELLOPTS`, by which way, and `$?`. */
const REPORT = /^(\d+) (\S*) (\d) (\d+)$/;

const NOT_RUN = /^(\d+)$/;

const BY_DESCRIPTOR = 0;
const BY_NAME = 1;

/** What a shell reports of the lines that it is fed. */
export class Reports {
  readonly #reader: PipeReader;
  readonly #waiting = new Map<number, (report: Report) => void>();
  /** By what this process has open, which nobody can remove; by name, where that is forbidden. */
  #ways: readonly ReportWay[];
  #rest = '';
  #last: Report = { status: 0, options: new Set() };

  constructor(pipe: NamedPipe) {
    this.#ways = [
      { number: BY_DESCRIPTOR, path: pathByDescriptor(pipe) },
      { number: BY_NAME, path: pipe.path },
    ];
    // It outlives the call that has it made.
    this.#reader = onBehalfOfNobody(() => new PipeReader(pipe, (bytes) => this.#take(bytes)));
  }

  /** The ways by which reports may come: of several, it is not known yet which are open. */
  get ways(): readonly ReportWay[] {
    return this.#ways;
  }

  /** It is known that the shell can open what this process has open. */
  get areByDescriptor(): boolean {
    return this.#ways.length === 1 && this.#ways[0]?.number === BY_DESCRIPTOR;
  }

  /** What the last line over has left behind. */
  get last(): Report {
    return this.#last;
  }

  /** Settles when this line is over; never if the shell ends before. */
  of(line: number): Promise<Report> {
    return new Promise((resolve) => this.#waiting.set(line, resolve));
  }

  /** What has been reported until now is told. */
  close(): void {
    this.#reader.drain();
    this.#reader.close();
  }

  #take(bytes: Uint8Array): void {
    const lines = (this.#rest + Buffer.from(bytes).toString('latin1')).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#read(line);
  }

  #read(text: string): void {
    const [, line, options = '', way, status] = REPORT.exec(text) ?? NOT_RUN.exec(text) ?? [];
    const resolve = this.#waiting.get(Number(line));
    if (resolve === undefined) return;
    this.#waiting.delete(Number(line));
    if (way !== undefined) this.#ways = this.#ways.filter(({ number }) => number === Number(way));
    const known = status === undefined ? undefined : Number(status);
    this.#last = { status: known, options: new Set(options.split(':')) };
    resolve(this.#last);
  }
}
