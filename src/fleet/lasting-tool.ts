import {
  type BashTool,
  completeTool,
  ToolAbortError,
  type ToolCall,
  ToolError,
  type ToolResult,
} from '../faces/contracts.js';
import { NoWorkerError } from '../remote/for-fleet.js';
import { LastingTasks } from './lasting-tasks.js';

/** A tool, and the worker that it is on. */
type ToolOnWorker = BashTool & { readonly worker: string };

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

  /** A worker takes nothing new: what has nothing under way there goes elsewhere. */
  drained(worker: string): void {
    this.#draining.add(worker);
    for (const tool of this.#tools) void tool.leave();
  }

  /**
   * Makes one.
   *
   * @param open Makes a tool on a worker that has room: the same one each time, but for its state.
   * @throws What `open` throws.
   */
  async make(open: () => Promise<ToolOnWorker>): Promise<BashTool> {
    const isDraining = (worker: string): boolean => this.#draining.has(worker);
    const tool = new LastingTool(await open(), open, isDraining);
    this.#tools.add(tool);
    return tool.face(async () => {
      this.#tools.delete(tool);
      await tool.dispose();
    });
  }
}

/** One tool after the other: the next when the worker of the one before is lost, or about to end. */
class LastingTool {
  readonly #open: () => Promise<ToolOnWorker>;
  readonly #isDraining: (worker: string) => boolean;
  readonly #tasks: LastingTasks | undefined;
  #current: ToolOnWorker;
  #opening: Promise<void> | undefined;
  /** Settles when those before are disposed of. */
  #left: Promise<unknown> = Promise.resolve();
  /** How many calls are under way. */
  #calls = 0;
  /** What the next answer begins with: its reader takes it for one of the session before. */
  #notice: string | undefined;
  #isDisposed = false;

  constructor(
    first: ToolOnWorker,
    open: () => Promise<ToolOnWorker>,
    isDraining: (worker: string) => boolean,
  ) {
    this.#current = first;
    this.#open = open;
    this.#isDraining = isDraining;
    this.#tasks = first.tasks && new LastingTasks(first.tasks);
  }

  /** All of them as one tool. */
  face(dispose: () => Promise<void>): BashTool {
    const { companions } = this.#current;
    const beside = companions.map((one) => this.#faceOf(one, { companions: [], dispose }));
    return this.#faceOf(this.#current, { companions: beside, dispose, tasks: this.#tasks });
  }

  /**
   * Goes elsewhere if its worker is about to end, and nothing would be ended by that.
   *
   * @param own How many of the calls under way are the one that asks for it.
   */
  async leave(own = 0): Promise<void> {
    await this.#noLongerOpening();
    const { worker, tasks } = this.#current;
    const isBusy = (): boolean =>
      this.#calls > own || (tasks?.list() ?? []).some(({ end }) => end === undefined);
    if (this.#isDisposed || !this.#isDraining(worker) || isBusy()) return;
    // If nobody else has room, it stays as long as it may.
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
      // Whoever has cancelled it may not read what comes of it.
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
    // Also while it waits: whoever leaves then would dispose of what it is about to ask.
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
      // Its line was closed before the call: nothing was started, so that another worker may.
      if (!(error instanceof NoWorkerError)) throw error;
    }
    await this.#noLongerOpening();
    await this.#renew(asked, LOST);
    return this.#ask(this.#current, name, input, call);
  }

  /** One that was asked for earlier may have found nobody, and somebody may have come since. */
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

  /** Once for all calls that find the same one gone. */
  async #renew(gone: ToolOnWorker, notice: string): Promise<void> {
    if (this.#current !== gone) return;
    this.#opening ??= this.#replace(notice).finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  async #replace(notice: string): Promise<void> {
    if (this.#isDisposed) throw disposed();
    const next = await this.#open();
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

/** An answer with a line before it; as data, too, if its schema has a place for that. */
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
