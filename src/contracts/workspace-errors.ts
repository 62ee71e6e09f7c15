import { LaunchError } from '../engine/launch-error.js';
import { JobLimitError } from '../jobs/manager.js';
import { InputError } from '../pipeline/input-error.js';
import { CANCELLED } from '../pipeline/notices.js';
import { ToolAbortError, ToolError } from './errors.js';

/** What a call is rejected with for something that went wrong on its way. */
export function toToolError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof ToolError || error instanceof ToolAbortError) return error;
  if (error instanceof InputError) return new ToolError('input', error.message, { cause: error });
  if (error instanceof JobLimitError) {
    return new ToolError('jobLimit', error.message, { cause: error });
  }
  if (error instanceof LaunchError) {
    const message = `Command could not be started: ${error.message}`;
    return new ToolError('launch', message, { cause: error });
  }
  if (signal?.aborted) return new ToolAbortError(CANCELLED, { cause: error });
  return error;
}
