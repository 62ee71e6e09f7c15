import {
  type BashTool,
  completeTool,
  ToolAbortError,
  type ToolCall,
  ToolError,
  type ToolResult,
} from '../faces/contracts.js';
import { FarFiles, FarPorts, type HasMachine, NoWorkerError } from '../remote/for-fleet.js';
import { LastingTasks } from './lasting-tasks.js';

/** A tool, and the id of its worker. */
type ToolOnWorker = BashTool & HasMachine & { readonly worker: string };

/** Makes a tool; `isMove`: its worker is there still. */
type Opens = (isMove: boolean) => Promise<ToolOnWorker>;

const GONE =
  'and with it went its directory, tasks and artifacts, and the files that only that machine had. ' +
  'This answer is from a new session.';
const LOST = `The worker of this session was lost, ${GONE}`;
const DRAINED = `The worker of this session is about to end, ${GONE}`;

/** The tools of a fleet that outlast their workers. */
export class LastingTools {
  /** Workers that are about to end. */
  readonly #draining = new Set<string>();
  readonly #tools = new Set<LastingTool>();

  /** Moves idle tools away from a worker that takes no new work. */
  drained(worker: string): void {
    this.#draining.add(worker);
    for (const tool of this.#tools) void tool.leave();
  }

  /**
   * Makes a tool.
   *
   * @param open Makes the tool on a worker that has room: the same tool each time, but for its state. In
   *   a move away from a worker that is there still, it waits for none.
   * @throws Errors of `open`.
   */
  async make(open: Opens): Promise<BashTool & HasMachine> {
    const isDraining = (worker: string): boolean => this.#draining.has(worker);
    const tool = new LastingTool(await open(false), open, isDraining);
    this.#tools.add(tool);
    return tool.face(async () => {
      this.#tools.delete(tool);
      await tool.dispose();
    });
  }
}

/**
 * Several tools one after the other: the next one when the worker of the last is lost, or about to end.
 */
class LastingTool {
  readonly #open: Opens;
  readonly #isDraining: (worker: string) => boolean;
  readonly #tasks: LastingTasks | undefined;
  #current: ToolOnWorker;
  #opening: Promise<void> | undefined;
  /** Settles when the earlier tools are disposed of. */
  #left: Promise<unknown> = Promise.resolve();
  /** The number of calls under way. */
  #calls = 0;
  /**
   * The line that the next answer begins with: without it, its reader would take it for one of the
   * session before.
   */
  #notice: string | undefined;
  #isDisposed = false;

  constructor(first: ToolOnWorker, open: Opens, isDraining: (worker: string) => boolean) {
    this.#current = first;
    this.#open = open;
    this.#isDraining = isDraining;
    this.#tasks = first.tasks && new LastingTasks(first.tasks);
  }

  /** Returns the tool that stands for all of them. */
  face(dispose: () => Promise<void>): BashTool & HasMachine {
    const { companions } = this.#current;
    const beside = companions.map((one) => this.#faceOf(one, { companions: [], dispose }));
    const own = this.#faceOf(this.#current, { companions: beside, dispose, tasks: this.#tasks });
    // Those of the worker where the tool is now.
    return Object.assign(own, {
      files: FarFiles.following(() => this.#current.files),
      ports: FarPorts.following(() => this.#current.ports),
    });
  }

  /**
   * Moves the tool if its worker is about to end, and nothing under way would be ended by that.
   *
   * @param own The number of calls under way that ask for this.
   */
  async leave(own = 0): Promise<void> {
    await this.#noLongerOpening();
    const { worker, tasks } = this.#current;
    const isBusy = (): boolean =>
      this.#calls > own || (tasks?.list() ?? []).some(({ end }) => end === undefined);
    if (this.#isDisposed || !this.#isDraining(worker) || isBusy()) return;
    // If no other worker has room, the tool stays as long as it may.
    await this.#renew(this.#current, DRAINED).catch(() => {});
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#opening?.catch(() => {});
    await Promise.all([this.#current.dispose(), this.#left]);
  }

  #faceOf(
    { name, description, inputSchema, outputSchema, strict, concurrency, hints }: BashTool,
    own: Pick<BashTool, 'companions' | 'dispose' | 'tasks'>,
  ): BashTool {
    return completeTool<BashTool>({
      ...{ name, description, inputSchema, strict, concurrency, hints },
      ...(outputSchema && { outputSchema }),
      ...own,
      execute: (input, call) => this.#execute(name, outputSchema, input, call),
    });
  }

  async #execute(
    name: string,
    outputSchema: BashTool['outputSchema'],
    input: unknown,
    call: ToolCall<unknown> | undefined,
  ): Promise<ToolResult<unknown>> {
    try {
      const result = await this.#run(name, input, call);
      return withNotice(result, this.#takeNotice(), 'notices' in (outputSchema?.properties ?? {}));
    } catch (error) {
      // The caller that has cancelled may not read the answer, so the notice is kept for the next one.
      if (!(error instanceof Error) || error instanceof ToolAbortError) throw error;
      const notice = this.#takeNotice();
      if (notice !== undefined) error.message = `${notice}\n\n${error.message}`;
      throw error;
    } finally {
      void this.leave();
    }
  }

  async #run(
    name: string,
    input: unknown,
    call: ToolCall<unknown> | undefined,
  ): Promise<ToolResult<unknown>> {
    // Counted also while the tool waits: else `leave()` would dispose of the tool that is about to be
    // asked.
    this.#calls += 1;
    try {
      await this.leave(1);
      return await this.#askSomewhere(name, input, call);
    } finally {
      this.#calls -= 1;
    }
  }

  async #askSomewhere(
    name: string,
    input: unknown,
    call: ToolCall<unknown> | undefined,
  ): Promise<ToolResult<unknown>> {
    const asked = this.#current;
    try {
      return await this.#ask(asked, name, input, call);
    } catch (error) {
      // The line was closed before the call: nothing was started, so that another worker may be asked.
      if (!(error instanceof NoWorkerError)) throw error;
    }
    await this.#noLongerOpening();
    await this.#renew(asked, LOST);
    return this.#ask(this.#current, name, input, call);
  }

  /**
   * Waits for a move under way; one that was begun earlier may have found no worker, and another may
   * have come since.
   */
  async #noLongerOpening(): Promise<void> {
    await this.#opening?.catch(() => {});
  }

  async #ask(
    tool: BashTool,
    name: string,
    input: unknown,
    call: ToolCall<unknown> | undefined,
  ): Promise<ToolResult<unknown>> {
    if (this.#isDisposed) throw disposed();
    const asked = [tool, ...tool.companions].find((one) => one.name === name);
    if (asked === undefined) throw new ToolError('input', `The worker has no tool ${name}.`);
    return asked.execute(input, call);
  }

  /** Moves the tool, once for all calls that find the same worker gone. */
  async #renew(gone: ToolOnWorker, notice: string): Promise<void> {
    if (this.#current !== gone) return;
    this.#opening ??= this.#replace(notice).finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  async #replace(notice: string): Promise<void> {
    if (this.#isDisposed) throw disposed();
    const next = await this.#open(notice === DRAINED);
    this.#left = Promise.all([this.#left, this.#current.dispose()]);
    this.#current = next;
    this.#notice = notice;
    if (next.tasks !== undefined) this.#tasks?.becomes(next.tasks);
  }

  #takeNotice(): string | undefined {
    const notice = this.#notice;
    this.#notice = undefined;
    return notice;
  }
}

function disposed(): ToolError {
  return new ToolError('disposed', 'The bash tool was disposed.');
}

/**
 * Returns the result with a line before it; in its data, too, if the schema has a place for that.
 */
function withNotice(
  result: ToolResult<unknown>,
  notice: string | undefined,
  hasNotices: boolean,
): ToolResult<unknown> {
  if (notice === undefined) return result;
  const [first, ...others] = result.content;
  const text = first === undefined ? notice : `${notice}\n\n${first.text}`;
  const { structured } = result;
  const notices = [notice, ...((structured?.notices as readonly string[] | undefined) ?? [])];
  return {
    ...result,
    content: [{ type: 'text', text }, ...others],
    ...(structured && hasNotices && { structured: { ...structured, notices } }),
  };
}
