import type { KeptOutput, OutputKeeper } from '../artifacts/keep-output.js';
import { createOwner, type Owner } from '../engine/owner.js';
import type { ExecuteOptions } from '../options/command-options.js';
import type { KeptReceipt } from '../receipt/receipt.js';
import { changesOfTool } from '../sandbox/pending/of-tool.js';
import { changesOfOwner } from '../sandbox/undo/of-owner.js';
import { isAbortSignal, throwIfAborted } from '../support/abort.js';
import { checkFunction, checkObject } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { inLaterTurn, UnderWay } from '../support/timing.js';
import { CallListeners, type UpdateOptions } from './call-listeners.js';
import { type BashTool, SHELL_HINTS, type ToolCall, type ToolResult } from './contract.js';
import { CANCELLED, ToolAbortError, ToolError, toToolError } from './errors.js';
import type { PendingEntry } from './log-entry.js';
import type { CallMoment, ShellSettings } from './options.js';
import { labelOf } from './validate.js';
import { answerTo } from './ways/answer.js';
import { standardSchema } from './ways/standard-schema.js';
import { streamOf } from './ways/stream.js';
import { explainLaunch } from './workdir.js';

// The way of a call, which is the same for every contract. A call that does not use a feature enters no other
// file for it.

/** A call as a contract's `run()` gets it, beside the input. */
export interface ContractCall<Details, Moment = CallMoment> {
  readonly call: ToolCall<Details>;
  /** The host as it was when the call was made. */
  readonly moment: Moment;
  /** The command's entry in the log; undefined: there is no log. */
  readonly entry: PendingEntry | undefined;
}

/** The parts of a tool that its contract does not decide. */
type SharedPart =
  | ('name' | 'strict' | 'hints' | 'changes' | 'heldChanges' | 'execute' | 'dispose')
  | keyof AsyncDisposable;

/** A contract: data and functions, from which {@link createContractTool} makes a tool. */
interface Contract<Input, Details, Moment> {
  readonly settings: Pick<ShellSettings, 'graceMs' | 'log' | 'sandbox'>;
  readonly life: Lifetime;
  /** Looks at the host. Called before anything is waited for. */
  readonly momentOf: (input: unknown) => Moment;
  /** Checks the input against the schema. */
  readonly validate: (input: unknown) => Promise<Input>;
  /** Checks what the schema cannot say. @throws {InputError} */
  readonly check?: (input: Input) => void;
  /** Runs a command whose input is valid. */
  readonly run: (
    input: Input,
    context: ContractCall<Details, Moment>,
  ) => Promise<ToolResult<Details>>;
  /** Returns the contract's own answer to an error; undefined: the error is thrown. */
  readonly answerTo?: (error: ToolError) => ToolResult<Details> | undefined;
  /** Ends what the owner of the commands knows nothing of, while the commands are being ended. */
  readonly interrupt?: () => Promise<unknown> | undefined;
  /** Frees what the tool holds, once every command has ended. */
  readonly release?: () => Promise<void>;
}

/**
 * Makes a contract's tool.
 *
 * @param own The fields of the tool that its contract decides.
 */
export function createContractTool<
  Tool extends BashTool<Details> & AsyncDisposable,
  Input extends { readonly command?: string },
  Details,
  Moment,
>(contract: Contract<Input, Details, Moment>, own: Omit<Tool, SharedPart | CompletedPart>): Tool {
  const { settings, life } = contract;

  async function answer(input: unknown, call: ToolCall<Details>): Promise<ToolResult<Details>> {
    const moment = contract.momentOf(input);
    const valid = await contract.validate(input);
    const { command } = valid;
    const entry = command === undefined ? undefined : settings.log?.begin(command, call.signal);
    const context = { call, moment, entry };
    if (entry === undefined) return start(valid, context);
    // What a check throws is noted, too.
    return entry.ofCall((async () => start(valid, context))());
  }

  function start(
    input: Input,
    context: ContractCall<Details, Moment>,
  ): Promise<ToolResult<Details>> {
    contract.check?.(input);
    life.checkStart(context.call.signal);
    return contract.run(input, context);
  }

  const heldChanges = settings.sandbox && changesOfTool(settings.sandbox);
  // The object stays the same, since some of the contract's fields are getters.
  const tool = Object.assign(own, {
    name: 'bash',
    strict: true,
    hints: SHELL_HINTS,
    ...(settings.sandbox?.undo && { changes: changesOfOwner(life.owner) }),
    ...(heldChanges !== undefined && { heldChanges }),
    execute: (input: unknown, given?: ToolCall<Details>) =>
      life.call(input, given, (own, call) => life.add(answer(own, call)), contract.answerTo),
    async dispose() {
      const ended = life.end(settings.graceMs);
      await Promise.all([ended, contract.interrupt?.()]);
      await contract.release?.();
      await settings.log?.flush();
    },
    [Symbol.asyncDispose](this: AsyncDisposable & Pick<BashTool, 'dispose'>) {
      return this.dispose();
    },
  });
  // With the shared part the contract's own part is a tool.
  return completeTool(tool as unknown as OwnPart<Tool>);
}

/** Waits for a command, and notes its end in the log. */
export function noted<Answer extends ToolResult<object>>(
  entry: PendingEntry | undefined,
  running: Promise<Answer>,
): Promise<Answer> {
  return entry?.ofRun(running) ?? running;
}

/** The surroundings of a command for {@link performCommand}. */
interface RunSurroundings<Details> {
  readonly call: ToolCall<Details>;
  readonly cwd: string;
  readonly updates?: UpdateOptions;
  /** Keeps the output; given up when the command cannot be started. */
  readonly keeper?: OutputKeeper;
}

/**
 * Runs a command for a call: its listeners hear of the output until it has ended, and an error says what is
 * wrong with the directory.
 *
 * @param start Starts the command. Without a listener, nothing has to be delivered while it runs.
 * @throws {ToolError} The working directory cannot be used.
 * @throws What `start` throws.
 */
export async function performCommand<Details, Result>(
  { call, cwd, updates, keeper }: RunSurroundings<Details>,
  start: (onOutput: ExecuteOptions['onOutput']) => Promise<Result>,
): Promise<Result> {
  const isHeard = call.onUpdate !== undefined || call.onOutput !== undefined;
  const listeners = isHeard ? new CallListeners(call, updates) : undefined;
  try {
    return await start(listeners?.tell);
  } catch (error) {
    keeper?.abandon();
    throw await explainLaunch(error, cwd);
  } finally {
    listeners?.stop();
  }
}

/** Converts a kept output for a receipt, without its id, which most contracts do not tell their models. */
export function keptFile(kept: KeptOutput): KeptReceipt | undefined {
  if (kept.kind !== 'kept') return undefined;
  return { path: kept.artifact.path, bytes: kept.bytes, missing: kept.missing };
}

/** The parts of a tool that {@link completeTool} adds. */
type CompletedPart = 'schema' | 'answer' | 'stream';

type OwnPart<Tool> = Omit<Tool, CompletedPart>;

/** Adds to a tool what follows from `execute()` and its input schema. The schema is made on first use. */
export function completeTool<Tool extends BashTool>(own: OwnPart<Tool>): Tool {
  const { execute } = own;
  // The object stays the same, since some of its fields are getters.
  const tool: Tool = Object.assign(own as Tool, {
    // A call that fails before anything has started must not settle at once: see `inLaterTurn()`.
    execute: (...[input, call]: Parameters<Tool['execute']>) =>
      inLaterTurn(() => execute(input, call)),
    answer: (...[input, call]: Parameters<Tool['answer']>) => answerTo(tool, input, call),
    stream: (...[input, call]: Parameters<Tool['stream']>) => streamOf(tool, input, call),
  });
  let schema: Tool['schema'] | undefined;
  const get = () => (schema ??= standardSchema(tool.inputSchema));
  return Object.defineProperty(tool, 'schema', { get, enumerable: true });
}

/** A tool from its creation to its disposal: what it has started, and whether a command may still begin. */
export class Lifetime {
  /** The owner of all commands of the tool. */
  readonly owner: Owner = createOwner();
  readonly #running = new UnderWay();
  readonly #disposal = new AbortController();

  /** Aborted when the disposal begins. */
  get disposal(): AbortSignal {
    return this.#disposal.signal;
  }

  /**
   * Answers a call, as each tool's `execute()` does, and turns errors into those that callers are told of.
   *
   * @param answer Gets the call as it was when it was made.
   * @param answerTo Returns an answer to an error; undefined: the error is thrown.
   * @throws {ToolError | ToolAbortError} See `BashTool.execute`.
   */
  async call<Details, Answer>(
    input: unknown,
    given: ToolCall<Details> | undefined,
    answer: (input: unknown, call: ToolCall<Details>) => Promise<Answer>,
    answerTo?: (error: ToolError) => Answer | undefined,
  ): Promise<Answer> {
    if (this.disposal.aborted) throw new ToolError('disposed', 'The bash tool was disposed.');
    let call: ToolCall<Details> | undefined;
    try {
      call = callOfNow(given, input);
      return await answer(input, call);
    } catch (reason) {
      const error = toToolError(reason, call?.signal);
      // A fault of the call itself is the runtime's, and no answer for a model.
      const isAnswered = call !== undefined && error instanceof ToolError;
      const own = isAnswered ? answerTo?.(error) : undefined;
      if (own === undefined) throw error;
      return own;
    }
  }

  /**
   * Checks whether a command may still begin, after all that its call had to wait for.
   *
   * @throws {ToolAbortError} The tool has been disposed of meanwhile.
   * @throws What the signal was aborted with.
   */
  checkStart(signal: AbortSignal | undefined): void {
    if (signal) throwIfAborted(signal);
    this.disposal.throwIfAborted();
  }

  /** Counts work as running: the disposal waits for it. Returns the work. */
  add<T>(work: Promise<T>): Promise<T> {
    return this.#running.add(work);
  }

  /** Ends all that the tool has started. Settles when nothing of it is left. */
  async end(graceMs: number): Promise<void> {
    this.#disposal.abort(new ToolAbortError(CANCELLED));
    await this.owner.dispose(graceMs);
    await this.#running.settled();
  }
}

/**
 * Copies a call as it is now: later changes of the caller's object have no effect. A runtime may pass an
 * object of its own, which has more fields.
 *
 * @param input The model's input: its `description` goes with every update.
 * @throws {InputError} A field that a runtime passes is not valid.
 */
export function callOfNow<Details>(
  given: ToolCall<Details> = {},
  input?: unknown,
): ToolCall<Details> {
  if (typeof given !== 'object' || given === null) checkObject('call', given);
  const signal = given.signal ?? undefined;
  const onUpdate = given.onUpdate ?? undefined;
  const onOutput = given.onOutput ?? undefined;
  checkSignal(signal, given);
  if (onUpdate !== undefined) checkFunction('onUpdate', onUpdate);
  if (onOutput !== undefined) checkFunction('onOutput', onOutput);
  const label = onUpdate === undefined ? undefined : labelOf(input);
  if (onUpdate === undefined || label === undefined) return { signal, onUpdate, onOutput };
  return { signal, onUpdate: (update) => onUpdate({ ...update, label }), onOutput };
}

/** @throws {InputError} `signal` is no AbortSignal, or is called `abortSignal`, as AI SDKs call it. */
function checkSignal(signal: unknown, call: object): void {
  if (signal !== undefined) {
    if (isAbortSignal(signal)) return;
    throw new InputError(`signal: expected an AbortSignal, got ${showValue(signal)}`);
  }
  if ('abortSignal' in call && (call.abortSignal ?? undefined) !== undefined) {
    throw new InputError('abortSignal: not known here, pass it as signal');
  }
}
