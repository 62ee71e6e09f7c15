import { firstBytes } from './text.js';

/**
 * The caller's input is wrong; nothing was started.
 *
 * The message is one line that names the field, what is allowed and what was given, such as
 * `timeout: expected a number, got "5"`.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
}

const SHOWN_BYTES = 80;

/** A value as it stands in an error message: JSON where there is one, on one line, not too long. */
export function showValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  const text = toJson(value);
  const shown = firstBytes(text, SHOWN_BYTES);
  return shown === text ? text : `${shown}…`;
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Cycles, big integers inside: the message must not fail because of what it reports.
    return `an ${typeof value}`;
  }
}

/** What an error says; anything may be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
