import { readFileSync } from 'node:fs';

/** The text of a file; undefined: it can't be read. */
export function readQuietly(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
