import { isMainThread } from 'node:worker_threads';
import { binding } from './channel.js';

/**
 * The variables that a command may inherit: `NAME=value` entries joined by NUL, one character a
 * byte. In the main thread these are the exact bytes, which `process.env` would not give where
 * they are not UTF-8. A worker has a `process.env` of its own, which counts there.
 */
export function inheritedEnvironment(): string {
  return isMainThread ? binding().environ() : ofWorker();
}

function ofWorker(): string {
  const entries = Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
  return Buffer.from(entries.join('\0'), 'utf8').toString('latin1');
}
