import { NoWorkerError } from '../remote/for-fleet.js';
import type { Labels } from './label-keys.js';

/** No worker is there, or none with these labels. */
export function nobody(labels: Labels): NoWorkerError {
  const text = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const which = text.length === 0 ? '' : ` with ${text.join(', ')}`;
  return new NoWorkerError(`There is no worker${which}; nothing was started.`);
}

/** The client has disposed of its fleet. */
export function disposedOf(): NoWorkerError {
  return new NoWorkerError('The fleet was disposed of; nothing was started.');
}

/** The broker is away. */
export function unreachable(): NoWorkerError {
  return new NoWorkerError("The broker can't be reached; nothing was started.");
}
