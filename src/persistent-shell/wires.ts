import type { NamedPipe } from '../engine/local-stream.js';
import { startTimer } from '../support/timing.js';
import { CallOutput, type OutputOptions } from './call-output.js';
import { Pipes, pathByDescriptor } from './pipes.js';
import { Reports, type ShellReport } from './reports.js';
import { callLine, firstLine, NEXT, reportLine, SCRIPT_NAME } from './script.js';
import { ScriptFeed } from './script-feed.js';

/** The interval at which a long call is checked, in milliseconds. */
const WATCH_MS = 100;

/** A call under way: its output, and the report of its end, which never comes if the shell ends before. */
interface WiredCall {
  readonly output: CallOutput;
  readonly report: Promise<ShellReport>;
}

/** The connections between the host and one shell: script, reports, output of calls. */
export class Wires {
  readonly #pipes: Pipes;
  readonly #script: ScriptFeed;
  readonly #reports: Reports;
  /** The pipes that the shell opens by name. */
  readonly #named: readonly NamedPipe[];
  #calls = 0;

  private constructor(pipes: Pipes, script: NamedPipe, feed: ScriptFeed, reports: NamedPipe) {
    this.#pipes = pipes;
    this.#script = feed;
    this.#reports = new Reports(reports);
    this.#named = [script, reports];
  }

  /**
   * Opens the connections.
   *
   * @param home The directory for the pipes; undefined: a directory of their own.
   * @throws {PipesError | LaunchError} The pipes cannot be made.
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

  /** The directory where the shell finds its script. */
  get directory(): string {
    return this.#pipes.directory;
  }

  /**
   * Tells the shell to change to its first directory. Settles when the shell is there, if it gets there.
   *
   * @param startUp The start-up file (`BASH_ENV`) that the shell reads first.
   */
  async begin(cwd: string, startUp: string | undefined): Promise<ShellReport> {
    this.#script.write(firstLine(cwd, startUp, this.#reports.ways));
    const report = await this.#reports.of(0);
    // No other process needs to find them.
    if (this.#reports.areByDescriptor) for (const pipe of this.#named) this.#pipes.forget(pipe);
    return report;
  }

  /**
   * Tells the shell to run a text.
   *
   * @throws {PipesError | LaunchError} The pipes for its output cannot be made; nothing is run.
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
   * Watches a call. When the shell waits for the next line and has not reported the call, asks for the report
   * once more; when none comes then, calls `tell`: bash skips our commands.
   *
   * @returns A function that ends the watch.
   */
  watch(tell: () => void): () => void {
    let wasAwaited = false;
    let isAsked = false;
    let off = (): void => {};
    const look = (): void => {
      const isAwaited = this.#script.unread === 0;
      // A report may be in the pipe, so this counts only at two checks in a row.
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

  /** Whether the shell has read the whole line of the last call; before that it runs nothing of it. */
  get isTaken(): boolean {
    return this.#script.unread <= NEXT.length;
  }

  async close(): Promise<void> {
    this.#script.close();
    this.#reports.close();
    await this.#pipes.close();
  }
}
