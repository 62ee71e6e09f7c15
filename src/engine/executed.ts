/** A program that a command in a sandbox has executed, or was denied. */
export interface ExecutedProgram {
  /** The real path of the program's file. */
  readonly program: string;
  /** The arguments, beginning with the program's name: at most 32, and 512 characters of each. */
  readonly argv: readonly string[];
  /** The number of further arguments; absent: none. */
  readonly moreArgv?: number;
  /** The id of the process. */
  readonly pid: number;
  /** The id of its parent. */
  readonly parent: number;
  /** When it was decided, in milliseconds since 1970. */
  readonly at: number;
  /** Whether it was executed. */
  readonly decision: 'allow' | 'deny';
  /**
   * Why: by a `rule`; no rule held (`otherwise`); `onExec` has answered (`asked`), or not in time (`unanswered`), or
   * there was nobody to ask (`unasked`); a command has changed the program or its arguments after the decision, and
   * the process was killed (`raced`); the process is traced by another one, and can't be held to the rules
   * (`traced`), nor can one whose file its user may execute and not read (`unread`); or the arguments are too long to be asked about (`long`).
   */
  readonly why: ExecReason;
  /**
   * Whether exactly this program was executed with these arguments. `false`: it was judged before, and a command that
   * changed its own memory meanwhile may have executed another one.
   */
  readonly exact: boolean;
  /** The program that has executed it, where that is not a shell: `make`; absent: none is known. */
  readonly by?: string;
  /** What the rule says for a model; absent: nothing. */
  readonly say?: string;
}

/** Why a program was executed or denied: see {@link ExecutedProgram}. */
export type ExecReason =
  | 'rule'
  | 'otherwise'
  | 'asked'
  | 'unanswered'
  | 'unasked'
  | 'raced'
  | 'traced'
  | 'unread'
  | 'long';
