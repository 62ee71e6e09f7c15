import type { OutputChunk } from '../engine/outcome.js';
import type { TaskManager } from '../tasks/manager.js';
import type { ObjectSchema } from './validate.js';
import type { ToolSchema } from './ways/standard-schema.js';

/** Text for the model. */
export interface TextContent {
  type: 'text';
  /** The text itself; never empty. */
  text: string;
}

/** The answer to a tool call. */
export interface ToolResult<Details> {
  /** What the model reads. */
  content: TextContent[];
  /** What the runtime may want to know. */
  details: Details;
  /** The same answer as data, as the tool's `outputSchema` describes it; only if it has one. */
  structured?: Readonly<Record<string, unknown>>;
  /** Only in updates: what the model called its command, in a `description` beside it. */
  label?: string;
  /** Set when the command ran and failed, and its contract counts that as an error. */
  isError?: true;
}

/** What a runtime may pass along with a call. */
export interface ToolCall<Details> {
  /** Aborting it ends the command, or takes a call that still waits out of the queue. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Receives the last output so far while the command runs, at most every 50 ms and never after
   * the result. If it throws, a process warning tells so and no further updates come.
   */
  readonly onUpdate?: ((update: ToolResult<Partial<Details>>) => void) | undefined;
  /**
   * Receives what the command has printed since the last time, in order, at most every 50 ms and
   * never after the result. If it throws, a process warning tells so and no more comes.
   */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
}

/** The answer to a call that does not throw. */
export interface ToolAnswer<Details> {
  /** What the model reads; never empty. */
  readonly text: string;
  /** The model should take it for an error. */
  readonly isError: boolean;
  /** What the runtime may want to know; undefined: the call failed before anything was started. */
  readonly details: Details | undefined;
  /** The same answer as data, as the tool's `outputSchema` describes it; only if it has one. */
  readonly structured?: Readonly<Record<string, unknown>>;
  /** What `execute()` would have thrown: a `ToolError`, or whatever went wrong in the host. */
  readonly error?: unknown;
}

/** Output of a command that runs. */
export interface ToolProgress {
  /** What it has printed since the last event; may be empty. */
  readonly text: string;
  /** Its last output so far, as `onUpdate` shows it: 50 KiB at most, made readable. */
  readonly tail: string;
  /** Bytes that are missing before `text`: of what nobody takes, 256 KiB wait. */
  readonly droppedBytes: number;
}

/** What a call yields: output while its command runs, and its answer, which is the last. */
export type ToolEvent<Details> =
  | ({ readonly kind: 'output' } & ToolProgress)
  | { readonly kind: 'answer'; readonly answer: ToolAnswer<Details> };

/** What every contract calls its tool: outputs are kept under this name. */
export const TOOL = 'bash';

/** What a client may assume of a tool's calls before it makes one. */
export interface ToolHints {
  /** It changes nothing. */
  readonly readOnly: boolean;
  /** It may destroy something. */
  readonly destructive: boolean;
  /** The same call twice does no more than once. */
  readonly idempotent: boolean;
  /** It may reach things outside of the machine. */
  readonly openWorld: boolean;
}

/** A shell can do anything. */
export const SHELL_HINTS: ToolHints = {
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
};

/** A shell tool: what a model API needs to know of it, and how it is called. */
export interface BashTool<Details = unknown, Input = unknown> {
  /** What a call of the model names: `bash` and the like. */
  readonly name: string;
  /** What the model is told of it. */
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: ObjectSchema;
  /** The same for frameworks that take Standard Schemas; with it they know the type, too. */
  readonly schema: ToolSchema<Input>;
  /** JSON Schema of a result's `structured`; absent: results have none. */
  readonly outputSchema?: ObjectSchema;
  /** Input that the schema does not know is an error. */
  readonly strict: boolean;
  /** `exclusive`: calls of one tool run one after the other, in the order in which they came. */
  readonly concurrency: 'exclusive' | 'shared';
  /** What a client may know of it before a call: the annotations of MCP. */
  readonly hints: ToolHints;
  /** Keeps the commands that outlive their calls, and tells of them; absent: there are none. */
  readonly tasks?: TaskManager | undefined;
  /** The tools that a model needs beside this one, such as that for background commands. */
  readonly companions: readonly BashTool[];
  /**
   * Runs one call. A command that exits with a code other than 0 is a result; whether it has
   * `isError` is up to the contract.
   *
   * @param input What the model gave; it is validated.
   * @throws {ToolError} The input was wrong, the command could not be started, its time was up, or
   *   it ended without an exit code. See its `kind`. A contract that has an answer of its own for
   *   one of these gives that instead, with `isError`.
   * @throws {ToolAbortError} The caller's signal was aborted, or the tool disposed meanwhile.
   */
  execute(input: unknown, call?: ToolCall<Details>): Promise<ToolResult<Details>>;
  /**
   * Runs one call, and answers whatever comes of it: what {@link execute} throws is an answer for the
   * model with `isError`.
   *
   * @throws {ToolAbortError} The caller's signal was aborted, or the tool disposed meanwhile.
   */
  answer(input: unknown, call?: ToolCall<Details>): Promise<ToolAnswer<Details>>;
  /**
   * Runs one call, and yields its output as it comes, and its answer at the end. It begins with the
   * first `next()`. `return()`, and so a loop that is left early, ends the command: once it settles,
   * the command is gone.
   *
   * @throws {ToolAbortError} (while it is iterated) As {@link answer}.
   */
  stream(
    input: unknown,
    call?: Pick<ToolCall<Details>, 'signal'>,
  ): AsyncGenerator<ToolEvent<Details>, void, void>;
  /** Ends every process that the tool's commands started. Calls that wait are rejected. */
  dispose(): Promise<void>;
}
