import { resolve } from 'node:path';
import { Command } from 'commander';
import { revertChanges } from '../../index.js';
import { answered } from '../answered.js';
import { tellDone } from './told.js';

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
  const rest = [
    { left: done.conflicts, said: 'it stays as it is' },
    { left: done.lost, said: "it can't be taken back" },
  ];
  const nothing = 'there is nothing to take back';
  return tellDone({ done, paths: done.reverted, rest, nothing }, json);
}
