import { resolve } from 'node:path';
import { Command } from 'commander';
import { revertChanges } from '../../index.js';
import { visibleText } from '../../support/text.js';
import { answered } from '../answered.js';
import { note } from '../notes.js';
import { writeOrTell } from '../standard-output.js';

/** Makes `forkline revert`: takes back what a command has changed. */
export function revertCommand(): Command {
  return new Command('revert')
    .description('Take back what a command has changed, but for what was changed since')
    .argument('<id>', 'an id of forkline changes')
    .argument('[path...]', 'only what is at or below these; default: all')
    .option('--json', 'print what was done as one line of JSON')
    .action((id: string, paths: readonly string[], { json }: { readonly json?: true }) =>
      answered(() => revert(id, paths, json)),
    );
}

async function revert(
  id: string,
  paths: readonly string[],
  json: true | undefined,
): Promise<boolean> {
  // As a user means them, whatever directory the command was in.
  const absolute = paths.map((path) => resolve(path));
  const done = await revertChanges(id, absolute.length === 0 ? undefined : absolute);
  const text = done.reverted.map((path) => `${visibleText(path)}\n`).join('');
  const isWritten = await writeOrTell(json ? `${JSON.stringify(done)}\n` : text);
  const isWhole = done.conflicts.length === 0 && done.lost.length === 0;
  if (json) return isWritten && isWhole;
  for (const { path, reason } of done.conflicts) {
    note(`${visibleText(path)}: it stays as it is: ${visibleText(reason)}`);
  }
  for (const { path, reason } of done.lost) {
    note(`${visibleText(path)}: it can't be taken back: ${visibleText(reason)}`);
  }
  if (isWhole && done.reverted.length === 0) note('there is nothing to take back');
  return isWritten && isWhole;
}
