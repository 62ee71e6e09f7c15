import { resolve } from 'node:path';
import { Command } from 'commander';
import { acceptChanges } from '../../index.js';
import { answered } from '../answered.js';
import { tellDone } from './told.js';

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
  const rest = [
    { left: done.conflicts, said: 'it stays as it is' },
    { left: done.heldBack, said: 'it stays held' },
  ];
  return tellDone(
    { done, paths: done.accepted, rest, nothing: 'there is nothing to accept' },
    json,
  );
}
