/** A program that waits to be executed until `onExec` has answered. */
export interface ExecRequest {
  /** The real path of the program's file. */
  readonly program: string;
  /** All arguments, beginning with the program's name. */
  readonly argv: readonly string[];
  /** The working directory. */
  readonly cwd: string;
  /** The id of the process that becomes the program. */
  readonly pid: number;
  /** The processes that it descends from, the nearest first; the first is itself, with the program that it is until then. */
  readonly parents: readonly ExecParent[];
  /** What the rule says for a model; absent: nothing. */
  readonly say?: string;
  /** Aborted when no answer is needed any more: the process or the command is gone, or the time is over. */
  readonly signal: AbortSignal;
}

/** A process that another one descends from. */
export interface ExecParent {
  /** The id of the process. */
  readonly pid: number;
  /** The path of its program. */
  readonly program: string;
}

/** Answers whether a program may be executed. What it throws, or an answer that is neither, is a denial. */
export type OnExec = (request: ExecRequest) => 'allow' | 'deny' | Promise<'allow' | 'deny'>;
