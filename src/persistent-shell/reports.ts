import { onBehalfOfNobody } from '../engine/caller.js';
import type { NamedPipe } from '../engine/local-stream.js';
import { PipeReader } from './pipe-reader.js';
import { pathByDescriptor } from './pipes.js';
import type { ReportWay } from './script.js';

/** The report of a line of a shell's script. */
export interface ShellReport {
  /** `$?` after the line; undefined: its text was not run, since its streams could not be opened. */
  readonly status: number | undefined;
  /** The options of `set` that were on at the end of the line. */
  readonly options: ReadonlySet<string>;
}

/** Matches a report: number of the line, `$SHELLOPTS`, number of the way, `$?`. */
const REPORT = /^(\d+) (\S*) (\d) (\d+)$/;

const NOT_RUN = /^(\d+)$/;

const BY_DESCRIPTOR = 0;
const BY_NAME = 1;

/** The reports of a shell about the lines of its script. */
export class Reports {
  readonly #reader: PipeReader;
  readonly #waiting = new Map<number, (report: ShellReport) => void>();
  /** By the host's descriptor, which cannot be removed; by name, where access to descriptors is forbidden. */
  #ways: readonly ReportWay[];
  #rest = '';
  #last: ShellReport = { status: 0, options: new Set() };

  constructor(pipe: NamedPipe) {
    this.#ways = [
      { number: BY_DESCRIPTOR, path: pathByDescriptor(pipe) },
      { number: BY_NAME, path: pipe.path },
    ];
    // The reader outlives the call in which it is made.
    this.#reader = onBehalfOfNobody(() => new PipeReader(pipe, (bytes) => this.#take(bytes)));
  }

  /** The ways by which reports may come. With more than one, it is not known yet which of them work. */
  get ways(): readonly ReportWay[] {
    return this.#ways;
  }

  /** Whether the shell is known to be able to open the host's descriptors. */
  get areByDescriptor(): boolean {
    return this.#ways.length === 1 && this.#ways[0]?.number === BY_DESCRIPTOR;
  }

  /** The last report. */
  get last(): ShellReport {
    return this.#last;
  }

  /** Resolves with the report of a line; never if the shell ends before. */
  of(line: number): Promise<ShellReport> {
    return new Promise((resolve) => this.#waiting.set(line, resolve));
  }

  /** Reads the remaining reports and ends. */
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
