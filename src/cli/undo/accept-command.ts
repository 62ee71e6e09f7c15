import { resolve } from 'node:path';
import { Command } from 'commander';
import { acceptChanges } from '../../index.js';
import { visibleText } from '../../support/text.js';
import { answered } from '../answered.js';
import { note } from '../notes.js';
import { writeOrTell } from '../standard-output.js';

/** Makes `forkline accept`: puts changes into effect that are held. */
export function acceptCommand(): Command {
  return new Command('accept')
    .description('Put changes into effect that a sandbox holds, but for what was changed since')
    .argument('<id>', 'an id of forkline changes')
    .argument('[path...]', 'only what is at or below these; default: all but settings')
    .option('--json', 'print what was done as one line of JSON')
    .action((id: string, paths: readonly string[], { json }: { readonly json?: true }) =>
      answered(() => accept(id, paths, json)),
    );
}

async function accept(
  id: string,
  paths: readonly string[],
  json: true | undefined,
): Promise<boolean> {
  // As a user means them, whatever directory the commands were in.
  const absolute = paths.map((path) => resolve(path));
  const done = await acceptChanges(id, absolute.length === 0 ? undefined : absolute);
  const text = done.accepted.map((path) => `${visibleText(path)}\n`).join('');
  const isWritten = await writeOrTell(json ? `${JSON.stringify(done)}\n` : text);
  const isWhole = done.conflicts.length === 0 && done.heldBack.length === 0;
  if (json) return isWritten && isWhole;
  for (const { path, reason } of done.conflicts) {
    note(`${visibleText(path)}: it stays as it is: ${visibleText(reason)}`);
  }
  for (const { path, reason } of done.heldBack) {
    note(`${visibleText(path)}: it stays held: ${visibleText(reason)}`);
  }
  if (isWhole && done.accepted.length === 0) note('there is nothing to accept');
  return isWritten && isWhole;
}
