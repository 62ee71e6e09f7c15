import { firstBytes } from '../support/text.js';
import type { InteractionEntry } from './log.js';

/**
 * An entry as one line of JSON.
 *
 * @param maxCommandBytes A longer command is cut; `commandBytes` then says how long it was.
 */
export function entryLine(entry: InteractionEntry, maxCommandBytes: number): string {
  const command = firstBytes(entry.command, maxCommandBytes);
  if (command === entry.command) return jsonLine(entry);
  const { time, command: whole, ...rest } = entry;
  return jsonLine({ time, command, commandBytes: Buffer.byteLength(whole, 'utf8'), ...rest });
}

/** Stands where lines are missing, so that a gap does not look like silence. */
export function gapLine(time: Date, lostEntries: number): string {
  return jsonLine({ time: time.toISOString(), lostEntries });
}

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
