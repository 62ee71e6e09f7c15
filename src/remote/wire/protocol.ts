import type { CommandLine } from '../../faces/command.js';
import type { BashTool, ToolHints, ToolResult } from '../../faces/contracts.js';
import type {
  BackgroundProcess,
  Capture,
  EngineFailure,
  EngineOutcome,
  OutputChunk,
  StreamName,
} from '../../faces/engine.js';
import type { OptionsOf, TerminalSize } from '../../faces/options.js';
import type {
  OutputStretch,
  SubjectState,
  TaskEnd,
  TaskEvent,
  TaskLifetime,
  Until,
} from '../../faces/tasks.js';
import type { Thrown } from './thrown.js';

/** What is said over a line. Another number: the two sides can't understand each other. */
export const PROTOCOL = 1;

/** What the far side writes first: what comes before, such as a login's greeting, is not ours. */
export const PREAMBLE = '\0forkline-serve\n';

/** Who speaks. */
export interface Hello {
  readonly protocol: number;
  /** Of the package. */
  readonly version: string;
  /** From the far side: bytes of messages that it takes at most. */
  readonly maxBytes?: number;
  /** From the far side: the calls that it takes; absent, from an older one: it refuses what it does not. */
  readonly takes?: readonly Open['op'][];
}

/** Options of a command that go to another machine: plain data, the environment as a policy. */
export type PlainCommandOptions = Omit<OptionsOf<'remote'>, 'signal' | 'onOutput' | 'input'>;

/** How a call begins. */
export type Open = OpenCommand | OpenTool | OpenExecute | OpenTask | OpenArtifacts;

export interface OpenCommand {
  readonly op: 'command';
  readonly line: CommandLine;
  readonly options: PlainCommandOptions;
  /** Whoever waits for its start is told at once; else there is time. */
  readonly tellsStart: boolean;
  /** Bytes to read come over the line. */
  readonly hasInput: boolean;
  readonly listen: 'text' | 'bytes' | null;
  readonly pause: boolean;
}

interface OpenTool {
  readonly op: 'tool';
  /** Those of `createBashTool()`, and the name of a profile at the far side. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface OpenExecute {
  readonly op: 'execute';
  /** Number of the call that has made the tool. */
  readonly tool: number;
  /** That of the tool itself, or of one that goes with it. */
  readonly name: string;
  readonly input: unknown;
  readonly wantsUpdates: boolean;
  readonly wantsOutput: boolean;
  readonly isCancelled: boolean;
}

interface OpenTask {
  readonly op: 'task';
  readonly tool: number;
  readonly id: string;
}

interface OpenArtifacts {
  readonly op: 'artifacts';
  readonly tool: number;
  readonly ask: ArtifactQuestion;
}

/** What is asked of a tool's artifacts. */
export type ArtifactQuestion =
  | { readonly kind: 'list' }
  | { readonly kind: 'find'; readonly id: string }
  | { readonly kind: 'read'; readonly id: string; readonly range?: unknown }
  | { readonly kind: 'save'; readonly tool: string };

/** How a call ends, unless it was cancelled before it was sent. */
export type End<Value> = { readonly value: Value } | { readonly error: Thrown };

/** How a command's call ends. */
export type FarEnd =
  | { readonly neverStarted: true }
  | { readonly failed: EngineFailure }
  | { readonly error: Thrown }
  | { readonly ran: EngineOutcome };

/** What is said of a command while it runs. */
export type CommandMessage =
  | { readonly started: number }
  /** The last of its output, for a client that does not listen to it. */
  | { readonly tail: string }
  /** A piece of input is in its pipe, or can't be. */
  | { readonly wrote: true }
  | { readonly wrote: false; readonly error: Thrown }
  | { readonly answer: number; readonly value: CommandAnswer };

export type CommandAnswer = boolean | null | readonly Capture[] | readonly BackgroundProcess[];

/** What is done to a command while it runs. */
export type CommandRequest =
  | { readonly do: 'detach' }
  | { readonly do: 'resize'; readonly columns: number; readonly rows: number }
  | CommandQuestion;

/** What is asked of it. */
export type CommandQuestion =
  | { readonly ask: number; readonly what: 'snapshot' | 'members' }
  | { readonly ask: number; readonly what: 'signal'; readonly signal: NodeJS.Signals };

/** A tool as it is told to the other side. */
export interface FarDefinition
  extends Pick<
    BashTool,
    'name' | 'description' | 'inputSchema' | 'outputSchema' | 'strict' | 'concurrency'
  > {
  readonly hints: ToolHints;
}

/** A tool that was made on the far side. */
export interface MadeTool {
  readonly made: FarDefinition;
  readonly companions: readonly FarDefinition[];
  /** By the name of the property that a contract has them under. */
  readonly named: Readonly<Record<string, string>>;
  readonly hasArtifacts: boolean;
  /** How many tasks may run; null: there are none. */
  readonly maxTasks: number | null;
  readonly cwd: string | null;
}

/** What is said of a tool: that it was made, first of all. */
export type ToolMessage = MadeTool | { readonly task: ToldTask } | { readonly event: TaskEvent };

/** A task that a tool of the far side has begun. */
export interface ToldTask {
  readonly id: string;
  readonly label: string;
  readonly lifetime: TaskLifetime;
  /** Its age, in milliseconds. */
  readonly durationMs: number;
  readonly terminal: TerminalSize | null;
}

/** How a task of the far side stands. */
export interface TaskStanding {
  readonly state: SubjectState;
  readonly quietSince: number;
  readonly outputFile: string | null;
  readonly tail: string;
}

/** What is said of a task, of which the call ends with its command's `TaskEnd`. */
export type TaskMessage =
  | { readonly standing: TaskStanding }
  | { readonly ended: TaskEnd }
  | TaskAnswer;

/** What came of a question. */
export type TaskAnswer =
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly error: Thrown };

/** What is asked of a task. */
export type TaskQuestion =
  | { readonly what: 'read'; readonly since: number; readonly maxBytes: number }
  | { readonly what: 'members' }
  /** As base64. */
  | { readonly what: 'write'; readonly data: string }
  | { readonly what: 'closeInput' }
  | { readonly what: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly what: 'end'; readonly graceMs: number | null }
  | { readonly what: 'wait'; readonly until: PlainUntil; readonly since: number }
  | { readonly what: 'stopWaiting'; readonly wait: number };

/** `Until`, with a regular expression as its source and flags. */
export type PlainUntil = Omit<Until, 'line'> & {
  readonly line?: string | readonly [source: string, flags: string];
};

/** A stretch of a task's output, its bytes as base64. */
export type SentStretch = Omit<OutputStretch, 'bytes'> & { readonly data: string };

/** What is said of a call of a tool while it runs. */
export type ExecuteMessage =
  | { readonly update: ToolResult<object> }
  | { readonly output: OutputChunk };

/** What a call of a tool came to. */
export interface Executed {
  readonly result: ToolResult<unknown>;
  /** Where the tool's next command will start, if it has a directory. */
  readonly cwd: string | null;
}

/** Streams by their number on the line. */
export const STREAMS: readonly StreamName[] = ['output', 'stdout', 'stderr'];
