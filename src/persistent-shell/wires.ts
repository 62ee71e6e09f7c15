import { startTimer } from '../support/timing.js';
import { CallOutput, type OutputOptions } from './call-output.js';
import { type NamedPipe, Pipes, pathByDescriptor } from './pipes.js';
import { type Report, Reports } from './reports.js';
import { callLine, firstLine, NEXT, reportLine, SCRIPT_NAME } from './script.js';
import { ScriptFeed } from './script-feed.js';

/** How often a call is looked at that takes long. */
const WATCH_MS = 100;

/** A call on its way: what it prints, and the report of its end, unless its shell ends before. */
interface WiredCall {
  readonly output: CallOutput;
  readonly report: Promise<Report>;
}

/** All that goes between the host and one shell: its script, its reports, what its calls print. */
export class Wires {
  readonly #pipes: Pipes;
  readonly #script: ScriptFeed;
  readonly #reports: Reports;
  /** Those that only the shell has yet to open. */
  readonly #named: readonly NamedPipe[];
  #calls = 0;

  private constructor(pipes: Pipes, script: NamedPipe, feed: ScriptFeed, reports: NamedPipe) {
    this.#pipes = pipes;
    this.#script = feed;
    this.#reports = new Reports(reports);
    this.#named = [script, reports];
  }

  /**
   * @param home Where they are to be; undefined: in a directory of their own.
   * @throws {PipesError | LaunchError} There is no place for them, or no descriptor.
   */
  static async open(home: string | undefined): Promise<Wires> {
    const pipes = await Pipes.open(home);
    let feed: ScriptFeed | undefined;
    try {
      const script = await pipes.make(SCRIPT_NAME, true);
      feed = new ScriptFeed(script);
      return new Wires(pipes, script, feed, await pipes.make('reports', true));
    } catch (error) {
      feed?.close();
      await pipes.close();
      throw error;
    }
  }

  /** Where the shell finds its script. */
  get directory(): string {
    return this.#pipes.directory;
  }

  /**
   * Has the shell go to where it is to begin; settles when it is there, if it gets there.
   *
   * @param startUp The file that it reads first.
   */
  async begin(cwd: string, startUp: string | undefined): Promise<Report> {
    this.#script.write(firstLine(cwd, startUp, this.#reports.ways));
    const report = await this.#reports.of(0);
    // Nobody else is to find them.
    if (this.#reports.areByDescriptor) for (const pipe of this.#named) this.#pipes.forget(pipe);
    return report;
  }

  /**
   * Has the shell run a text.
   *
   * @throws {PipesError | LaunchError} There are no pipes for it. Nothing is run.
   */
  async call(text: string, options: OutputOptions): Promise<WiredCall> {
    this.#calls += 1;
    const number = this.#calls;
    const output = await CallOutput.open(this.#pipes, number, options);
    const report = this.#reports.of(number);
    const { status = 0, options: set } = this.#reports.last;
    const { ways, areByDescriptor } = this.#reports;
    const pathOf = ({ pipe }: { readonly pipe: NamedPipe }): string =>
      areByDescriptor ? pathByDescriptor(pipe) : pipe.path;
    const [stdout, stderr] = [pathOf(output.stdout), pathOf(output.stderr)];
    this.#script.write(callLine({ number, text, stdout, stderr, ways, status, options: set }));
    if (areByDescriptor) output.forgetNames();
    return { output, report };
  }

  /**
   * Asks a shell for its report that waits for another line without one of the call it has had, and
   * tells when none comes then: bash passes over our words.
   *
   * @returns Takes it back.
   */
  watch(tell: () => void): () => void {
    let wasAwaited = false;
    let isAsked = false;
    let off = (): void => {};
    const look = (): void => {
      const isAwaited = this.#script.unread === 0;
      // A report may be on its way.
      const isMissing = isAwaited && wasAwaited;
      if (isMissing && isAsked) {
        tell();
        return;
      }
      wasAwaited = isAwaited && !isMissing;
      if (isMissing) {
        isAsked = true;
        this.#script.write(reportLine(this.#calls, this.#reports.ways));
      }
      off = startTimer(WATCH_MS, look);
    };
    off = startTimer(WATCH_MS, look);
    return () => off();
  }

  /** The shell has read the last call's line to its end, without which it runs nothing of it. */
  get isTaken(): boolean {
    return this.#script.unread <= NEXT.length;
  }

  async close(): Promise<void> {
    this.#script.close();
    this.#reports.close();
    await this.#pipes.close();
  }
}
