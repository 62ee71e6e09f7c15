import { ArtifactError } from '../../faces/artifacts.js';
import { ToolAbortError, ToolError, type ToolErrorKind } from '../../faces/contracts.js';
import { LaunchError } from '../../faces/engine.js';
import { TaskLimitError, UnknownTaskError } from '../../faces/tasks.js';
import { errorOf, InputError } from '../../support/errors.js';
import { BusyError } from '../errors.js';

/** An error of the far side, as plain data. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  /** Fields of the error's class. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly cause?: Thrown;
}

/** Fields that errors of forkline and of the system have. */
const FIELDS = [
  ...['kind', 'details', 'code', 'errno', 'step', 'subject'],
  ...['id', 'available', 'maxRunning', 'running'],
] as const;

/** Describes an error as plain data. */
export function describeError(thrown: unknown): Thrown {
  const error = errorOf(thrown);
  const entries = FIELDS.flatMap((name) =>
    name in error ? [[name, Reflect.get(error, name)]] : [],
  );
  const { name, message, cause } = error;
  const fields = Object.fromEntries(entries);
  const isTold = cause instanceof Error;
  return { name, message, fields, ...(isTold && { cause: describeError(cause) }) };
}

/** Makes the same error on this side. */
export function errorFrom({ name, message, fields, cause }: Thrown): Error {
  const options = cause === undefined ? {} : { cause: errorFrom(cause) };
  const { details, kind, available = [], id, maxRunning, running = [] } = fields;
  switch (name) {
    case 'InputError':
      return new InputError(message);
    case 'ToolError':
      return new ToolError(kind as ToolErrorKind, message, { ...options, details });
    case 'ToolAbortError':
      // Only this side knows why the call was cancelled.
      return new ToolAbortError(message, { details });
    case 'LaunchError':
      return launchError(message, fields);
    case 'ArtifactError':
      return new ArtifactError(String(id), available as readonly string[]);
    case 'TaskLimitError':
      return new TaskLimitError(Number(maxRunning), running as readonly string[]);
    case 'UnknownTaskError':
      return new UnknownTaskError(message);
    case 'BusyError':
      return new BusyError(message);
  }
  const { code, errno } = fields;
  return Object.assign(
    new Error(message, options),
    code === undefined ? {} : { code },
    errno === undefined ? {} : { errno },
  );
}

function launchError(message: string, { errno, step, subject }: Thrown['fields']): LaunchError {
  // The class puts the name of the error before its message itself.
  const [, reason = message] = /^[A-Z0-9]+: (.*)$/s.exec(message) ?? [];
  return new LaunchError({
    errno: Number(errno),
    step: String(step),
    subject: String(subject),
    message: reason,
  });
}
