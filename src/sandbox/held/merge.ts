import { basename } from 'node:path';
import { loadDiff, MOST_COMPARED_BYTES, MOST_EDITS } from './diff.js';
import { mergedConfig } from './merge-config.js';
import type { HeldRecord } from './record.js';
import { partOf } from './store.js';

/**
 * Makes the change to a file that is no longer as it was when the change was held back, as after another one of
 * several held changes has been accepted. Undefined: it does not fit.
 *
 * Of git's configurations, git itself sets the keys that would have changed. All else must be text, and then the
 * diff of before and after is that which the user has been shown, but for the numbers of lines.
 *
 * @param now The content of the file.
 * @throws The system's error.
 */
export async function merged(
  directory: string,
  record: HeldRecord,
  now: Uint8Array,
): Promise<Uint8Array | undefined> {
  const { id, path, reason, before } = record;
  const most = MOST_COMPARED_BYTES;
  const isConfig = reason === 'setting' && CONFIGURATIONS.has(basename(path));
  const [was, would] = await Promise.all([
    // A new configuration has had no keys.
    before === undefined && isConfig ? new Uint8Array() : partOf(directory, id, 'before', most),
    partOf(directory, id, 'content', most),
  ]);
  if (was === undefined || would === undefined) return undefined;
  if (Math.max(was.length, would.length, now.length) > most) return undefined;
  return isConfig
    ? mergedConfig(directory, record, [was, would, now])
    : mergedText(was, would, now);
}

const CONFIGURATIONS = new Set(['config', 'config.worktree']);

async function mergedText(
  ...all: readonly [was: Uint8Array, would: Uint8Array, now: Uint8Array]
): Promise<Uint8Array | undefined> {
  const [was, would, now] = all.map(textIn);
  if (was === undefined || would === undefined || now === undefined) return undefined;
  const { applyPatch, structuredPatch } = await loadDiff();
  const diff = (one: string, other: string) =>
    structuredPatch('', '', one, other, undefined, undefined, {
      context: 3,
      maxEditLength: MOST_EDITS,
    });
  const shown = diff(was, would);
  if (shown === undefined) return undefined;
  const text = applyPatch(now, shown, { fuzzFactor: 0, autoConvertLineEndings: false });
  if (text === false) return undefined;
  // Lines at the end of a file would fit in the middle of another one, too.
  const made = diff(now, text);
  const isSame =
    made?.hunks.length === shown.hunks.length &&
    made.hunks.every(({ lines }, at) => lines.join('\n') === shown.hunks[at]?.lines.join('\n'));
  return isSame ? Buffer.from(text) : undefined;
}

/** Returns a text; undefined: the bytes are none. */
function textIn(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString();
  const isText = !bytes.includes(0) && Buffer.compare(Buffer.from(text), bytes) === 0;
  return isText ? text : undefined;
}
