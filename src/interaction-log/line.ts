import { firstBytes } from '../support/text.js';
import type { InteractionEntry } from './log.js';

/**
 * Formats an entry as one line of JSON.
 *
 * @param maxCommandBytes A longer command is cut; `commandBytes` then says how long it was.
 */
export function entryLine(entry: InteractionEntry, maxCommandBytes: number): string {
  const command = firstBytes(entry.command, maxCommandBytes);
  if (command === entry.command) return jsonLine(entry);
  const { time, command: whole, ...rest } = entry;
  return jsonLine({ time, command, commandBytes: Buffer.byteLength(whole, 'utf8'), ...rest });
}

/** Makes the line that stands for lost entries, so that a gap can be told from a time without commands. */
export function gapLine(time: Date, lostEntries: number): string {
  return jsonLine({ time: time.toISOString(), lostEntries });
}

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
