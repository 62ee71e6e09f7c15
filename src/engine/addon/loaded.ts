import { onBehalfOfNobody } from '../caller.js';
import { LaunchError } from '../launch-error.js';
import { ERRNO } from '../system-error.js';
import { loadBinding } from './binding.js';
import type { NativeBinding } from './native.js';

let loaded: NativeBinding | undefined;

/**
 * Returns the addon, loaded when first needed.
 *
 * @throws {LaunchError} No file descriptor is left to load it with.
 * @throws Error The addon is missing or broken; the message says what to do.
 */
export function binding(): NativeBinding {
  // Loading creates callbacks that outlive this call.
  loaded ??= onBehalfOfNobody(load);
  return loaded;
}

/** Returns the addon, if it was loaded already. */
export function loadedBinding(): NativeBinding | undefined {
  return loaded;
}

function load(): NativeBinding {
  try {
    return loadBinding();
  } catch (error) {
    // The loader reports a temporary shortage only in its text.
    if (!(error instanceof Error) || !error.message.includes('Too many open files')) throw error;
    throw engineFailure(ERRNO.EMFILE, 'Too many open files');
  }
}

/**
 * Starts the engine, unless it runs.
 *
 * @throws {LaunchError} It cannot be started.
 */
export function startEngine(): void {
  const failure = binding().start();
  if (failure != null) throw engineFailure(failure.errno, failure.message);
}

function engineFailure(errno: number, reason: string): LaunchError {
  const needs = errno === ERRNO.ENOSYS ? ' (it needs Linux 5.4 or newer)' : '';
  const message = `cannot start the engine${needs}: ${reason}`;
  return new LaunchError({ step: 'engine', errno, subject: 'the engine', message });
}
