import { isUtf8 } from 'node:buffer';

let commands = 0;

/**
 * Converts a command's variables for `child_process`, which can't carry bytes that are not UTF-8: such a
 * variable is left out, rather than altered.
 *
 * @param block Entries joined by NUL, one character a byte.
 * @param owner Becomes part of the mark, for people who ask whose process it is.
 */
export function variablesOf(block: string, owner: number): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const entry of block.split('\0')) {
    const text = textOf(entry);
    const end = text?.indexOf('=', 1) ?? -1;
    if (text !== undefined && end > 0) variables[text.slice(0, end)] = text.slice(end + 1);
  }
  commands += 1;
  variables.FORKLINE_MARK = `${process.pid}-portable.${owner}.${commands}.`;
  return variables;
}

function textOf(entry: string): string | undefined {
  // Most entries are plain ASCII, for which bytes and text are the same.
  if (/^[\0-\x7f]*$/.test(entry)) return entry;
  const bytes = Buffer.from(entry, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}
