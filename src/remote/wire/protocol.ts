import type { CommandLine } from '../../faces/command.js';
import type { BashTool, ToolHints, ToolResult } from '../../faces/contracts.js';
import type {
  BackgroundProcess,
  Capture,
  EngineFailure,
  EngineOutcome,
  ExecRequest,
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
import type { TraceContext } from '../trace-context.js';
import type { StoredPart } from './part-store.js';
import type { Thrown } from './thrown.js';

/** The version of the protocol. Sides of different versions can't understand each other. */
export const PROTOCOL = 1;

/** The first bytes of the far side; bytes before them, such as a login's greeting, are skipped. */
export const PREAMBLE = '\0forkline-serve\n';

/** The greeting of each side. */
export interface Hello {
  readonly protocol: number;
  /** The version of the package. */
  readonly version: string;
  /** From the far side: bytes of messages that it takes at most. */
  readonly maxBytes?: number;
  /**
   * From the far side: the calls that it takes. An older far side does not list them, and refuses those
   * it does not know.
   */
  readonly takes?: readonly Open['op'][];
  /** From the far side: whether it takes parts of input from a store. Absent: it does not. */
  readonly takesParts?: boolean;
}

/**
 * Options of a command that are sent to another machine: plain data, with the environment as a policy.
 */
export type PlainCommandOptions = Omit<
  OptionsOf<'remote'>,
  'signal' | 'onOutput' | 'onExec' | 'input'
>;

/** The body that begins a call. */
export type Open =
  | OpenCommand
  | OpenTool
  | OpenExecute
  | OpenTask
  | OpenArtifacts
  | OpenPort
  | OpenListener
  | OpenAccepted;

export interface OpenCommand {
  readonly op: 'command';
  readonly line: CommandLine;
  readonly options: PlainCommandOptions;
  /**
   * Whether the caller waits for the start, and is told at once; else the message may come later.
   */
  readonly tellsStart: boolean;
  /** Whether input comes over the line. */
  readonly hasInput: boolean;
  readonly listen: 'text' | 'bytes' | null;
  readonly pause: boolean;
  /** Whether the client answers questions about programs. Absent: it does not. */
  readonly hears?: boolean;
  /** Whether it does nothing but hold what goes with a tool: then it takes no place. Absent: it does not. */
  readonly holds?: boolean;
  /** The caller's span. Absent: the call is in no trace. */
  readonly trace?: TraceContext;
}

interface OpenTool {
  readonly op: 'tool';
  /** Options of `createBashTool()`, and the name of a profile at the far side. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface OpenExecute {
  readonly op: 'execute';
  /** The number of the call that has made the tool. */
  readonly tool: number;
  /** The name of the tool, or of one of its companions. */
  readonly name: string;
  readonly input: unknown;
  readonly wantsUpdates: boolean;
  readonly wantsOutput: boolean;
  readonly isCancelled: boolean;
  /** The caller's span. Absent: the call is in no trace. */
  readonly trace?: TraceContext;
}

/** A connection to a port that the far side reaches; its bytes go both ways. */
export interface OpenPort {
  readonly op: 'port';
  readonly port: number;
  readonly host: string;
  /** Whether nothing is connected: the answer says whether the client may. */
  readonly isTrial?: boolean;
}

/** A port on which the far side listens for the client, until the call is cancelled. 0: any that is free. */
export interface OpenListener {
  readonly op: 'listener';
  readonly port: number;
  readonly host: string;
}

/** A connection that has come to such a port; its bytes go both ways. */
export interface OpenAccepted {
  readonly op: 'accepted';
  /** The number of the call that listens. */
  readonly listener: number;
  readonly connection: number;
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

/** A question about a tool's artifacts. */
export type ArtifactQuestion =
  | { readonly kind: 'list' }
  | { readonly kind: 'find'; readonly id: string }
  | { readonly kind: 'read'; readonly id: string; readonly range?: unknown }
  | { readonly kind: 'save'; readonly tool: string };

/** The end of a call, unless it was cancelled before it was sent. */
export type End<Value> = { readonly value: Value } | { readonly error: Thrown };

/** The end of a command's call. */
export type FarEnd =
  | { readonly neverStarted: true }
  | { readonly failed: EngineFailure }
  | { readonly error: Thrown }
  | { readonly ran: EngineOutcome };

/** A message about a running command. */
export type CommandMessage =
  | { readonly started: number }
  /** The end of the output, for a client that does not listen to it. */
  | { readonly tail: string }
  /** Whether a piece of input was written to the command's pipe. */
  | { readonly wrote: true }
  | { readonly wrote: false; readonly error: Thrown }
  /** The part of this name could not be taken from the store: it is to come over the line. */
  | { readonly untaken: string }
  | { readonly answer: number; readonly value: CommandAnswer }
  /** A question about a program, with a number of its own. */
  | { readonly mayRun: number; readonly request: SentExec }
  /** The question of this number needs no answer any more. */
  | { readonly withdrawn: number };

/** A program that waits to be executed, as it is sent. */
export type SentExec = Omit<ExecRequest, 'signal'>;

export type CommandAnswer = boolean | null | readonly Capture[] | readonly BackgroundProcess[];

/** A request about a running command. */
export type CommandRequest =
  | { readonly do: 'detach' }
  /** The next piece of input. */
  | { readonly do: 'input'; readonly part: StoredPart }
  | { readonly do: 'resize'; readonly columns: number; readonly rows: number }
  /** The answer to the question about a program that has this number. */
  | { readonly do: 'decide'; readonly question: number; readonly answer: 'allow' | 'deny' }
  | CommandQuestion;

/** A question about a running command. */
export type CommandQuestion =
  | { readonly ask: number; readonly what: 'snapshot' | 'members' }
  | { readonly ask: number; readonly what: 'signal'; readonly signal: NodeJS.Signals };

/** The definition of a tool, as it is sent. */
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
  /** Names of companions, by the property of the contract that holds them. */
  readonly named: Readonly<Record<string, string>>;
  readonly hasArtifacts: boolean;
  /** The number of tasks that may run; null: the tool has no tasks. */
  readonly maxTasks: number | null;
  readonly cwd: string | null;
}

/** A message about a tool; the first is that it was made. */
export type ToolMessage = MadeTool | { readonly task: ToldTask } | { readonly event: TaskEvent };

/** A task that a tool of the far side has begun. */
export interface ToldTask {
  readonly id: string;
  readonly label: string;
  readonly lifetime: TaskLifetime;
  /** The age of the task, in milliseconds. */
  readonly durationMs: number;
  readonly terminal: TerminalSize | null;
}

/** The state of a task of the far side. */
export interface TaskStanding {
  readonly state: SubjectState;
  readonly quietSince: number;
  readonly outputFile: string | null;
  readonly tail: string;
}

/** A message about a task. The call ends with the `TaskEnd` of the task's command. */
export type TaskMessage =
  | { readonly standing: TaskStanding }
  | { readonly ended: TaskEnd }
  | TaskAnswer;

/** The answer to a question about a task. */
export type TaskAnswer =
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly error: Thrown };

/** A question about a task. */
export type TaskQuestion =
  | { readonly what: 'read'; readonly since: number; readonly maxBytes: number }
  | { readonly what: 'members' }
  /** Writes data, in base64. */
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

/** A stretch of a task's output, with its bytes in base64. */
export type SentStretch = Omit<OutputStretch, 'bytes'> & { readonly data: string };

/** A message about a running call of a tool. */
export type ExecuteMessage =
  | { readonly update: ToolResult<object> }
  | { readonly output: OutputChunk };

/** The result of a call of a tool. */
export interface Executed {
  readonly result: ToolResult<unknown>;
  /** The directory where the tool's next command will start; null: the tool has none. */
  readonly cwd: string | null;
}

/** Streams by their number on the line. */
export const STREAMS: readonly StreamName[] = ['output', 'stdout', 'stderr'];
