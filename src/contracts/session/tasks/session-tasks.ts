import { type KeptOutput, keepText, type OutputKeeper } from '../../../artifacts/keep-output.js';
import type { RunResult } from '../../../engine/outcome.js';
import type { CommandHandle } from '../../../engine/process.js';
import type { Receipt } from '../../../receipt/receipt.js';
import type { CommandSubject } from '../../../tasks/command-subject.js';
import { TaskLimitError } from '../../../tasks/errors.js';
import type { TaskManager } from '../../../tasks/manager.js';
import type { TaskEnd } from '../../../tasks/status.js';
import type { Task, TaskWork } from '../../../tasks/task.js';
import { TOOL } from '../../contract.js';
import { ToolError } from '../../errors.js';
import type { SessionSettings } from '../options.js';
import { type ShownStreams, sessionReceipt, shownStreams } from '../result.js';

/** A command that has been started, and is to be a task. */
interface StartedTask {
  readonly label: string;
  readonly subject: CommandSubject;
  readonly handle: CommandHandle;
  readonly result: Promise<RunResult>;
  /** Its environment block. */
  readonly environment: string;
  readonly keeper: OutputKeeper;
}

/** How the command of a task has ended. */
export interface EndedTask {
  readonly result: RunResult;
  readonly streams: ShownStreams;
  readonly receipt: Receipt;
  /** Where all of its output is; undefined: it is not kept. */
  readonly file: string | undefined;
}

/** A task of a session. */
export interface SessionTask {
  readonly task: Task;
  readonly handle: CommandHandle;
  /** Settles when its command has ended; never rejects. */
  readonly ended: Promise<EndedTask>;
}

/** Tasks that are forgotten and whose output is still known to be kept. */
const REMEMBERED = 1000;

/** The commands of a session that run in the background, and those whose end nobody has read. */
export class SessionTasks {
  readonly #manager: TaskManager;
  readonly #settings: Pick<SessionSettings, 'maxCharacters' | 'outputs'>;
  readonly #known = new WeakMap<Task, SessionTask>();
  /** The files of tasks that have been read to their end, by id. */
  readonly #files = new Map<string, string>();

  constructor(manager: TaskManager, settings: Pick<SessionSettings, 'maxCharacters' | 'outputs'>) {
    this.#manager = manager;
    this.#settings = settings;
  }

  /** The ids of those that can be asked for. */
  get ids(): readonly string[] {
    return this.list().map(({ id }) => id);
  }

  /** Those that can be asked for, in the order in which they were started. */
  list(): readonly Task[] {
    // A manager may be shared by several tools.
    return this.#manager.list().filter((task) => this.#known.has(task));
  }

  hasRoom(): boolean {
    return this.#manager.hasRoom();
  }

  /**
   * Starts a command and makes a task of it.
   *
   * @throws {ToolError} As many run as may; nothing was started.
   * @throws What `start` throws.
   */
  async begin(start: () => Promise<StartedTask>): Promise<SessionTask> {
    let ended: Promise<EndedTask> | undefined;
    let handle: CommandHandle | undefined;
    try {
      const task = await this.#manager.begin(async () => {
        const started = await start();
        ended = this.#end(started);
        handle = started.handle;
        return workOf(started, ended);
      });
      return this.#keep(task, handle, ended);
    } catch (error) {
      throw error instanceof TaskLimitError ? limitReached(error) : error;
    }
  }

  /**
   * Makes a task of a command that runs.
   *
   * @param startedAt By the clock of `performance.now()`.
   * @throws {TaskLimitError} As many run as may.
   */
  adopt(started: StartedTask, startedAt: number): SessionTask {
    this.#manager.checkRoom();
    const ended = this.#end(started);
    return this.#keep(this.#manager.add(workOf(started, ended), startedAt), started.handle, ended);
  }

  /** Undefined: there is no such task, or no longer. */
  find(id: string): SessionTask | undefined {
    const task = this.#manager.get(id);
    return task && this.#known.get(task);
  }

  /** Where the output is of a task that has been read to its end. */
  fileOf(id: string): string | undefined {
    return this.#files.get(id);
  }

  /** Its end is read. False: somebody else was first. */
  take(known: SessionTask): boolean {
    const { task } = known;
    if (task.take() === undefined) return false;
    if (task.outputFile !== undefined) this.#files.set(task.id, task.outputFile);
    for (const id of [...this.#files.keys()].slice(0, -REMEMBERED)) this.#files.delete(id);
    // What still runs of it can be ended by its id.
    if (task.state !== 'left') this.forget(known);
    return true;
  }

  /** It cannot be asked for any more. */
  forget({ task }: SessionTask): void {
    this.#manager.forget(task.id);
  }

  #keep(
    task: Task,
    handle: CommandHandle | undefined,
    ended: Promise<EndedTask> | undefined,
  ): SessionTask {
    if (handle === undefined || ended === undefined) throw new TypeError('a task was not started');
    const known = { task, handle, ended };
    this.#known.set(task, known);
    return known;
  }

  /** What was too short for a file: its end is told once, and it can be read again from there. */
  async #keepText(end: RunResult): Promise<KeptOutput> {
    const text = wholeText(end);
    if (text === undefined || text === '') return { kind: 'none' };
    return keepText(this.#settings.outputs, TOOL, text);
  }

  async #end({ subject, result, environment, keeper }: StartedTask): Promise<EndedTask> {
    const end = await result;
    const streams = shownStreams(end, this.#settings.maxCharacters);
    const inFile = await keeper.finish(end.spill);
    const kept = inFile.kind === 'none' ? await this.#keepText(end) : inFile;
    const receipt = await sessionReceipt(end, streams, environment, kept);
    const file = fileIn(kept);
    subject.conclude(receipt, file);
    return { result: end, streams, receipt, file };
  }
}

/** All that was printed; undefined: not all of it is here. */
function wholeText(end: RunResult): string | undefined {
  const captures = 'output' in end ? [end.output] : [end.stdout, end.stderr];
  const texts = captures.map((capture) => (capture.kind === 'complete' ? capture.text : undefined));
  return texts.includes(undefined) ? undefined : texts.join('');
}

function fileIn(kept: KeptOutput): string | undefined {
  return kept.kind === 'kept' ? kept.artifact.path : undefined;
}

function workOf(started: StartedTask, ended: Promise<EndedTask>): TaskWork {
  const { label, subject, handle } = started;
  return {
    label,
    subject,
    ended: ended.then(taskEnd),
    tail: () => '',
    cancel: () => handle.cancel(),
  };
}

function taskEnd({ result: { outcome }, streams, file }: EndedTask): TaskEnd {
  const isFine = outcome.kind === 'exited' && outcome.exitCode === 0;
  const result = isFine ? 'completed' : outcome.kind === 'cancelled' ? 'cancelled' : 'failed';
  return { result, text: [streams.stdout.text, streams.stderr.text].join(''), kept: file };
}

function limitReached({ maxRunning, running }: TaskLimitError): ToolError {
  const which = running.length === 0 ? '' : ` (${running.join(', ')})`;
  return new ToolError(
    'jobLimit',
    `Too many background tasks: the maximum of ${maxRunning} concurrent tasks has been ` +
      `reached${which}. The command was not run.`,
  );
}
