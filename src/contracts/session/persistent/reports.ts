import { onBehalfOfNobody } from '../../../engine/caller.js';
import { PipeReader } from './pipe-reader.js';
import type { NamedPipe } from './pipes.js';
import type { ReportWay } from './script.js';

/** A line of a shell's script is over. */
export interface Report {
  /** `$?` after it. */
  readonly status: number;
  /** `set -o pipefail` was on at its end. */
  readonly hasPipefail: boolean;
}

/** Which line, `$?`, `$SHELLOPTS`, and by which way. */
const REPORT = /^(\d+) (\d+) (\S+) (\d)$/;

/** What a shell reports of the lines that it is fed. */
export class Reports {
  readonly #reader: PipeReader;
  readonly #waiting = new Map<number, (report: Report) => void>();
  /** By what this process has open, which nobody can remove; by name, if that is not allowed. */
  #ways: readonly ReportWay[];
  #rest = '';

  constructor(pipe: NamedPipe) {
    const paths = [`/proc/${process.pid}/fd/${pipe.fd}`, pipe.path];
    this.#ways = paths.map((path, number) => ({ path, number }));
    // It outlives the call that has it made.
    this.#reader = onBehalfOfNobody(() => new PipeReader(pipe, (bytes) => this.#take(bytes)));
  }

  /** The ways by which reports may come: of several, it is not known yet which are open. */
  get ways(): readonly ReportWay[] {
    return this.#ways;
  }

  /** Settles when this line is over; never if the shell ends before. */
  of(line: number): Promise<Report> {
    return new Promise((resolve) => this.#waiting.set(line, resolve));
  }

  close(): void {
    this.#reader.close();
  }

  #take(bytes: Uint8Array): void {
    const lines = (this.#rest + Buffer.from(bytes).toString('latin1')).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#read(line);
  }

  #read(text: string): void {
    const [, line, status, options = '', way] = REPORT.exec(text) ?? [];
    const resolve = this.#waiting.get(Number(line));
    if (resolve === undefined) return;
    this.#waiting.delete(Number(line));
    this.#ways = this.#ways.filter(({ number }) => number === Number(way));
    resolve({ status: Number(status), hasPipefail: options.split(':').includes('pipefail') });
  }
}
