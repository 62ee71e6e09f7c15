import { LaunchError } from '../engine/launch-error.js';
import { PipesError } from '../persistent-shell/pipes-error.js';
import type { Receipt } from '../receipt/receipt.js';
import { abortReason } from '../support/abort.js';
import { brand, InputError } from '../support/errors.js';
import { TaskLimitError } from '../tasks/errors.js';

/** The notice of a command that the caller ended. */
export const CANCELLED = 'Command cancelled';

/** Why a tool call failed. */
export type ToolErrorKind =
  /** The input was wrong; nothing was started. */
  | 'input'
  /** A rule of the interceptor sends the model to another tool; nothing was started. */
  | 'blocked'
  /** The command could not be started: the fault is the machine's, not the command's. */
  | 'launch'
  /** The working directory is not there or cannot be used; nothing was started. */
  | 'directory'
  /** The command's time was up. */
  | 'timedOut'
  /** The command ended without an exit code: a signal killed it. */
  | 'noStatus'
  /** The user ended the command from its console. */
  | 'dismissed'
  /** The limit of background jobs or tasks is reached; nothing was started. */
  | 'jobLimit'
  /** The tool was disposed before the call. */
  | 'disposed';

/** Data of a failed call besides its message. */
export interface ToolErrorOptions<Details> extends ErrorOptions {
  /** The contract's details of the command. Default: none, when it was not started. */
  readonly details?: Details | undefined;
}

/** The error of a failed call. The message is for the model, and has the output so far, if any. */
export class ToolError<Details = unknown> extends Error {
  static {
    brand(ToolError, 'ToolError');
  }
  override readonly name = 'ToolError';
  /** The kind of failure. */
  readonly kind: ToolErrorKind;
  /** The contract's details of the command; undefined: it was not started. */
  readonly details: Details | undefined;

  /** Makes an error whose message is for the model. */
  constructor(kind: ToolErrorKind, message: string, options: ToolErrorOptions<Details> = {}) {
    super(message, options);
    this.kind = kind;
    this.details = options.details;
  }
}

/** The error of a call that the caller cancelled. The message has the output so far, if any. */
export class ToolAbortError<Details = unknown> extends Error {
  static {
    brand(ToolAbortError, 'ToolAbortError');
  }
  override readonly name = 'ToolAbortError';
  /** The contract's details of the command; undefined: it was not started. */
  readonly details: Details | undefined;

  /** Makes an error whose message is for the model. */
  constructor(message: string, options: ToolErrorOptions<Details> = {}) {
    super(message, options);
    this.details = options.details;
  }
}

/** Converts an error that occurred in a call to the one that the call is rejected with. */
export function toToolError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof ToolError) return error;
  if (error instanceof ToolAbortError) return withReason(error, signal);
  if (error instanceof InputError) return new ToolError('input', error.message, { cause: error });
  if (error instanceof TaskLimitError) {
    return new ToolError('jobLimit', error.message, { cause: error });
  }
  if (error instanceof PipesError) {
    const message = `Command could not be started: ${error.message}`;
    return new ToolError('launch', message, { cause: error.cause });
  }
  if (error instanceof LaunchError) {
    const what =
      error.step === 'lost'
        ? 'It is not known whether the command ran'
        : 'Command could not be started';
    const message = `${what}: ${error.message}`;
    return new ToolError('launch', message, { cause: error });
  }
  if (signal?.aborted) return new ToolAbortError(CANCELLED, { cause: error });
  return error;
}

/** Adds the reason of the abort as `cause`, which the command did not know. */
function withReason(error: ToolAbortError, signal: AbortSignal | undefined): ToolAbortError {
  if (signal?.aborted && error.cause === undefined) {
    const value = abortReason(signal);
    Object.defineProperty(error, 'cause', { value, configurable: true, writable: true });
  }
  return error;
}

/** Returns the receipt of the command that an error is about, if it was started. */
export function receiptOfError(error: unknown): Receipt | undefined {
  const isTool = error instanceof ToolError || error instanceof ToolAbortError;
  return isTool ? receiptIn(error.details) : undefined;
}

/** Returns the receipt in a contract's details. */
export function receiptIn(details: unknown): Receipt | undefined {
  if (typeof details !== 'object' || details === null || !('receipt' in details)) return undefined;
  // In every contract, the field with this name is the receipt.
  return details.receipt as Receipt;
}
