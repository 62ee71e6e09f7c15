import { readFileSync } from 'node:fs';

/** Returns the text of a file; `undefined`: the file can't be read. */
export function readQuietly(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
