export type { ExecParent, ExecRequest, OnExec } from '../../engine/exec/exec-request.js';

/** A decision on a program that is about to be executed. */
export type ExecAnswer = 'allow' | 'deny' | 'ask';

/** A pattern for one argument: the text itself, or a regular expression that is found in it. */
export type ArgvPattern =
  | string
  | RegExp
  | {
      /** The source of a regular expression of JavaScript. */
      readonly matches: string;
      /** Its flags, of `i`, `m`, `s` and `u`. Default: none. */
      readonly flags?: string | undefined;
    };

/** A rule about programs that commands execute. Of several the first that holds decides. */
export interface ExecRule {
  /**
   * Programs by name (`git`), or by path. A name stands for the program that is found by it, whatever it is called
   * when it is executed (a link, a copy); to deny or to ask, for any program of this name as well. Default: any.
   */
  readonly program?: string | readonly string[] | undefined;
  /**
   * Patterns for arguments, without the program's name: each is that of an argument, in this order, and there may
   * be others before, between and after. Default: any arguments.
   */
  readonly argv?: readonly ArgvPattern[] | undefined;
  /** Whether there are no other arguments than those of `argv`. Default: false. */
  readonly exact?: boolean | undefined;
  /** The decision: `ask`, `onExec` is asked. */
  readonly answer: ExecAnswer;
  /** What a model is told when the program was not executed: what it can do instead. Default: nothing. */
  readonly say?: string | undefined;
}

/** Decisions on the programs that commands in a sandbox execute. */
export interface SandboxExec {
  /** Whether all programs are recorded in `result.executed`, not only those that were denied or asked about. Default: false. */
  readonly record?: boolean | undefined;
  /** Rules, of which the first that holds decides. Default: none. */
  readonly rules?: readonly ExecRule[] | undefined;
  /** The decision where no rule holds. The command's own shell, and the program of a command without one, may start. Default: 'allow'. */
  readonly otherwise?: ExecAnswer | undefined;
  /** How long an answer of `onExec` is awaited, in milliseconds; no answer is a denial. Default: 120000. */
  readonly askTimeoutMs?: number | undefined;
}
