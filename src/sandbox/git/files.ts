import { readFileSync, realpathSync } from 'node:fs';

/** Returns the text of a file without blanks around it; undefined: it can't be read. */
export function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Returns where a path leads; undefined: nothing is there, or it can't be looked at. */
export function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
