import { lateLibrary, OPEN_ONE_BY_ONE } from '../../engine/late-library.js';
import { firstBytes, visibleText } from '../../support/text.js';
import type { HeldRecord } from './record.js';
import { partOf } from './store.js';

/** The library's modules are opened file by file. */
export const loadDiff = lateLibrary("the sandbox's diffs", () => import('diff'), OPEN_ONE_BY_ONE);

/** Bounds of what is compared, and of what is shown. */
export const MOST_COMPARED_BYTES = 256 * 1024;
/** More take seconds: the time grows with the square. */
export const MOST_EDITS = 1000;
const MOST_SHOWN_BYTES = 64 * 1024;

/** Returns the change as a unified diff, or a line in brackets that says why there is none. */
export async function diffOf(directory: string, record: HeldRecord): Promise<string> {
  const { id, path, what, before } = record;
  const [was, would] = await Promise.all([
    before === undefined ? new Uint8Array() : partOf(directory, id, 'before', MOST_COMPARED_BYTES),
    what === 'removal' ? new Uint8Array() : partOf(directory, id, 'content', MOST_COMPARED_BYTES),
  ]);
  if (was === undefined) return '[what was there was not kept: it is too long, or no file]\n';
  if (would === undefined) return '[what would be there can no longer be read]\n';
  if (Math.max(was.length, would.length) > MOST_COMPARED_BYTES) return TOO_LONG;
  if (what === 'link') return `[a symbolic link to ${JSON.stringify(textOf(would))}]\n`;
  if (was.includes(0) || would.includes(0)) return '[binary]\n';
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await loadDiff();
  // Commands name directories: a name with a line break would look like a part of the diff.
  const name = visibleText(path);
  const [from, to] = [
    before === undefined ? '/dev/null' : name,
    what === 'removal' ? '/dev/null' : name,
  ];
  const text = createTwoFilesPatch(from, to, textOf(was), textOf(would), undefined, undefined, {
    context: 3,
    headerOptions: FILE_HEADERS_ONLY,
    // A whole file takes no search.
    maxEditLength: Math.min(was.length, would.length) === 0 ? Number.MAX_SAFE_INTEGER : MOST_EDITS,
  });
  if (text === undefined) return TOO_LONG;
  const shown = firstBytes(text, MOST_SHOWN_BYTES);
  return shown === text ? text : `${shown}\n[the diff is longer than is shown]\n`;
}

const TOO_LONG = '[too long to be compared]\n';

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
