/** Why a tool call failed. */
export type ToolErrorKind =
  /** The input was wrong; nothing was started. */
  | 'input'
  /** A rule of the interceptor sends the model to another tool; nothing was started. */
  | 'blocked'
  /** The command could not be started: the fault is the machine's, not the command's. */
  | 'launch'
  /** The command's time was up. */
  | 'timedOut'
  /** The command ended without an exit code: a signal killed it. */
  | 'noStatus'
  /** As many background jobs run as may; nothing was started. */
  | 'jobLimit'
  /** The tool was disposed before the call. */
  | 'disposed';

/** What comes with a failed call besides its message. */
export interface ToolErrorOptions<Details> extends ErrorOptions {
  readonly details?: Details;
}

/** A tool call failed. The message is for the model, and has the output so far if there is any. */
export class ToolError<Details = unknown> extends Error {
  override readonly name = 'ToolError';
  readonly kind: ToolErrorKind;
  /** What is known of the command when it was started: the contract's details. */
  readonly details: Details | undefined;

  constructor(kind: ToolErrorKind, message: string, options: ToolErrorOptions<Details> = {}) {
    super(message, options);
    this.kind = kind;
    this.details = options.details;
  }
}

/** The caller cancelled the call. The message has the output so far if there is any. */
export class ToolAbortError<Details = unknown> extends Error {
  override readonly name = 'ToolAbortError';
  /** What is known of the command when it was started: the contract's details. */
  readonly details: Details | undefined;

  constructor(message: string, options: ToolErrorOptions<Details> = {}) {
    super(message, options);
    this.details = options.details;
  }
}
