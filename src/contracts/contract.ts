import type { OutputChunk } from '../engine/outcome.js';
import type { HeldToolChanges } from '../sandbox/pending/of-tool.js';
import type { ToolChanges } from '../sandbox/undo/of-owner.js';
import type { TaskManager } from '../tasks/manager.js';
import type { ObjectSchema } from './validate.js';
import type { ToolSchema } from './ways/standard-schema.js';

/** Text for the model. */
export interface TextContent {
  type: 'text';
  /** The text; never empty. */
  text: string;
}

/** The answer to a tool call. */
export interface ToolResult<Details> {
  /** The text that the model reads. */
  content: TextContent[];
  /** Facts for the runtime. */
  details: Details;
  /** The same answer as data, as the tool's `outputSchema` describes it; only if it has one. */
  structured?: Readonly<Record<string, unknown>>;
  /** The `description` that the model gave beside its command; only in updates. */
  label?: string;
  /** Set when the command ran and failed, and its contract counts that as an error. */
  isError?: true;
}

/** Options that a runtime may pass with a call. */
export interface ToolCall<Details> {
  /** Aborting the signal ends the command, or removes a waiting call from the queue. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Receives the last output so far while the command runs, at most every 50 ms and never after the result.
   * If the function throws, a process warning says so and it is not called again.
   */
  readonly onUpdate?: ((update: ToolResult<Partial<Details>>) => void) | undefined;
  /**
   * Receives what the command has printed since the last time, in order, at most every 50 ms and never after
   * the result. If the function throws, a process warning says so and it is not called again.
   */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
}

/** The answer to a call that does not throw. */
export interface ToolAnswer<Details> {
  /** The text that the model reads; never empty. */
  readonly text: string;
  /** Whether the model should take the answer for an error. */
  readonly isError: boolean;
  /** Facts for the runtime; undefined: the call failed before anything was started. */
  readonly details: Details | undefined;
  /** The same answer as data, as the tool's `outputSchema` describes it; only if it has one. */
  readonly structured?: Readonly<Record<string, unknown>>;
  /** The error that `execute()` would have thrown: a `ToolError`, or one of the host. */
  readonly error?: unknown;
}

/** Output of a command that runs. */
export interface ToolProgress {
  /** Output since the last event; may be empty. */
  readonly text: string;
  /** The last output so far, as `onUpdate` shows it: 50 KiB at most, made readable. */
  readonly tail: string;
  /** Bytes that are missing before `text`: at most 256 KiB wait until they are taken. */
  readonly droppedBytes: number;
}

/** An event of a call: output while the command runs, and at last the answer. */
export type ToolEvent<Details> =
  | ({ readonly kind: 'output' } & ToolProgress)
  | { readonly kind: 'answer'; readonly answer: ToolAnswer<Details> };

/** The name of every contract's tool; outputs are kept under it. */
export const TOOL = 'bash';

/** Facts that a client may assume of a tool before it makes a call. */
export interface ToolHints {
  /** Calls change nothing. */
  readonly readOnly: boolean;
  /** A call may destroy something. */
  readonly destructive: boolean;
  /** Repeating the same call has no further effect. */
  readonly idempotent: boolean;
  /** A call may reach the world outside of the machine. */
  readonly openWorld: boolean;
}

/** The hints of a tool that runs shell commands, which can do anything. */
export const SHELL_HINTS: ToolHints = {
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
};

/** A shell tool: its description for a model API, and its calls. */
export interface BashTool<Details = unknown, Input = unknown> {
  /** The name by which the model calls the tool, such as `bash`. */
  readonly name: string;
  /** The description for the model. */
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: ObjectSchema;
  /** The same as a Standard Schema, from which frameworks know the type, too. */
  readonly schema: ToolSchema<Input>;
  /** JSON Schema of a result's `structured`; absent: results have no such field. */
  readonly outputSchema?: ObjectSchema;
  /** Whether fields that the schema does not know are an error. */
  readonly strict: boolean;
  /** `exclusive`: the calls of the tool run one after another, in the order in which they were made. */
  readonly concurrency: 'exclusive' | 'shared';
  /** Facts about calls, which become the annotations of MCP. */
  readonly hints: ToolHints;
  /** Manages the commands that outlive their calls; absent: no command does. */
  readonly tasks?: TaskManager | undefined;
  /** What its commands have changed, which can be taken back; absent: its sandbox has no `undo`. */
  readonly changes?: ToolChanges | undefined;
  /** What its commands have changed, which is not in effect; absent: its sandbox applies changes. */
  readonly heldChanges?: HeldToolChanges | undefined;
  /** Further tools that a model needs beside this one, such as those for background commands. */
  readonly companions: readonly BashTool[];
  /**
   * Runs one call. A command that exits with a code other than 0 is a result; whether the result has
   * `isError` is up to the contract.
   *
   * @param input The model's input, which is validated.
   * @throws {ToolError} The input was wrong, the command could not be started, its time was up, or it ended
   *   without an exit code: see `kind`. For some of these a contract answers with `isError` instead.
   * @throws {ToolAbortError} The caller's signal was aborted, or the tool disposed meanwhile.
   */
  execute(input: unknown, call?: ToolCall<Details>): Promise<ToolResult<Details>>;
  /**
   * Runs one call. An error that {@link execute} would throw becomes an answer with `isError`.
   *
   * @throws {ToolAbortError} The caller's signal was aborted, or the tool disposed meanwhile.
   */
  answer(input: unknown, call?: ToolCall<Details>): Promise<ToolAnswer<Details>>;
  /**
   * Runs one call, and yields its output as it comes, and its answer at the end. The call begins with the
   * first `next()`. `return()`, and so a loop that is left early, ends the command; when it settles, the
   * command has ended.
   *
   * @throws {ToolAbortError} (during the iteration) As {@link answer}.
   */
  stream(
    input: unknown,
    call?: Pick<ToolCall<Details>, 'signal'>,
  ): AsyncGenerator<ToolEvent<Details>, void, void>;
  /** Ends all processes that the tool's commands have started. Calls that wait are rejected. */
  dispose(): Promise<void>;
}
