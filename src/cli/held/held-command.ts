import { resolve } from 'node:path';
import { Argument, Command } from 'commander';
import { type Held, heldBack } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { visibleText } from '../../support/text.js';
import { note } from '../notes.js';
import { expectOutputErrors, writeOrTell } from '../standard-output.js';
import { heldTable } from './held-table.js';

/** The flags of a list. */
interface ListFlags {
  readonly json?: true;
  readonly workspace?: string;
}

/** Makes `forkline held`: lists, shows, accepts and drops what sandboxes have held back. */
export function heldCommand(): Command {
  return new Command('held')
    .description(
      'What sandboxes have held back, and is not in effect: list it, show, accept or drop it',
    )
    .option('--json', 'print the list as one line of JSON, with the diffs')
    .option('--workspace <directory>', 'only changes in this directory')
    .action(async ({ json, workspace }: ListFlags) => {
      await answered(async () => {
        const all = await heldBack({ workspace });
        return print(json ? `${JSON.stringify(all)}\n` : heldTable(all, Date.now()));
      });
    })
    .addCommand(
      new Command('show')
        .exitOverride()
        .description('Print the diff of a change')
        .addArgument(named())
        .action((names: readonly string[]) =>
          answered(async () => {
            const { chosen, isComplete } = choose(await heldBack(), names);
            return (await print(chosen.map(shown).join(''))) && isComplete;
          }),
        ),
    )
    .addCommand(
      new Command('accept')
        .exitOverride()
        .description('Put a change in place, unless the file has changed meanwhile')
        .addArgument(named())
        .action((names: readonly string[]) => answered(() => acceptAll(names))),
    )
    .addCommand(
      new Command('drop')
        .exitOverride()
        .description('Remove a change')
        .addArgument(named())
        .action((names: readonly string[]) =>
          answered(async () => {
            const { chosen, isComplete } = choose(await heldBack(), names);
            for (const one of chosen) await one.drop();
            return isComplete;
          }),
        ),
    );
}

function named(): Argument {
  return new Argument('<id-or-path...>', 'an id of the list, or the path of the file');
}

/** Puts changes in place; those of one file in the order of time, up to the first that does not fit. */
async function acceptAll(names: readonly string[]): Promise<boolean> {
  const { chosen, isComplete } = choose(await heldBack(), names);
  let isDone = isComplete;
  const stopped = new Set<string>();
  for (const one of chosen) {
    const path = visibleText(one.path);
    if (stopped.has(one.path)) {
      note(`${path}: the later change ${one.id} was not tried`);
      continue;
    }
    if ((await one.accept()) === 'put') continue;
    note(
      `${path}: it has changed meanwhile, so the change ${one.id} was not put there; it stays held`,
    );
    stopped.add(one.path);
    isDone = false;
  }
  return isDone;
}

/** The changes that are meant, and whether each name has at least one. */
interface Choice {
  readonly chosen: readonly Held[];
  readonly isComplete: boolean;
}

function choose(all: readonly Held[], names: readonly string[]): Choice {
  const chosen = new Set<Held>();
  let isComplete = true;
  for (const name of names) {
    const path = resolve(name);
    const found = all.filter((one) => one.id === name || one.path === path);
    for (const one of found) chosen.add(one);
    if (found.length > 0) continue;
    note(`${visibleText(name)}: nothing is held back by this id or path; forkline held lists all`);
    isComplete = false;
  }
  return { chosen: [...chosen], isComplete };
}

/** Returns the diff without what a terminal obeys. */
function shown({ diff }: Held): string {
  return diff
    .split(/(?<=\n)/)
    .map(withoutControls)
    .join('');
}

function withoutControls(line: string): string {
  const [, text = '', end = ''] = /^(.*?)(\n?)$/s.exec(line) ?? [];
  return text.split('\t').map(visibleText).join('\t') + end;
}

/** Sets the exit code: 0 if all was done. */
async function answered(work: () => Promise<boolean>): Promise<void> {
  expectOutputErrors();
  try {
    process.exitCode = (await work()) ? 0 : 1;
  } catch (error) {
    note(messageOf(error));
    process.exitCode = 1;
  }
}

function print(text: string): Promise<boolean> {
  return writeOrTell(text);
}
