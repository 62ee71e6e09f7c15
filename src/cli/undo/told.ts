import { visibleText } from '../../support/text.js';
import { note } from '../notes.js';
import { writeOrTell } from '../standard-output.js';

/** Paths that stay as they are, and what is said of each. */
interface LeftPaths {
  readonly left: readonly { readonly path: string; readonly reason: string }[];
  readonly said: string;
}

/** What a command has done with changes. */
interface DoneChanges {
  /** All of it, for `--json`. */
  readonly done: object;
  readonly paths: readonly string[];
  readonly rest: readonly LeftPaths[];
  /** Said if there was nothing to be done. */
  readonly nothing: string;
}

/** Prints the paths that are done, and says what is not. Returns whether all was. */
export async function tellDone(
  { done, paths, rest, nothing }: DoneChanges,
  json: true | undefined,
): Promise<boolean> {
  const text = paths.map((path) => `${visibleText(path)}\n`).join('');
  const isWritten = await writeOrTell(json ? `${JSON.stringify(done)}\n` : text);
  const isWhole = rest.every(({ left }) => left.length === 0);
  if (json) return isWritten && isWhole;
  for (const { left, said } of rest) {
    for (const { path, reason } of left)
      note(`${visibleText(path)}: ${said}: ${visibleText(reason)}`);
  }
  if (isWhole && paths.length === 0) note(nothing);
  return isWritten && isWhole;
}
