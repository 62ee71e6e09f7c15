import { Argument, Command } from 'commander';
import { dropHeld, type Held, heldBack } from '../../index.js';
import { visibleText } from '../../support/text.js';
import { answered } from '../answered.js';
import { note } from '../notes.js';
import { writeOrTell } from '../standard-output.js';
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
        return writeOrTell(json ? `${JSON.stringify(all)}\n` : heldTable(all, Date.now()));
      });
    })
    .addCommand(
      new Command('show')
        .exitOverride()
        .description('Print the diff of a change')
        .addArgument(named())
        .action((names: readonly string[]) =>
          answered(async () => {
            const { chosen, isComplete } = await choose(names);
            return (await writeOrTell(chosen.map(shown).join(''))) && isComplete;
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
        .description('Remove changes')
        .option('--all', 'all of the workspace: of --workspace, or else of the current directory')
        .addArgument(named('[id-or-path...]'))
        .action(async (names: readonly string[], { all }: { all?: true }, command: Command) => {
          if ((all === undefined) === (names.length === 0)) {
            command.error("error: expected ids or paths, or '--all'");
          }
          const { workspace = '.' } = command.optsWithGlobals<ListFlags>();
          await answered(() => (all ? dropAll(workspace) : drop(names)));
        }),
    );
}

function named(syntax = '<id-or-path...>'): Argument {
  return new Argument(syntax, 'an id of the list, or the path of the file');
}

async function drop(names: readonly string[]): Promise<boolean> {
  const others: string[] = [];
  // What can't be read is in no list.
  for (const name of names) if (!(await dropHeld(name))) others.push(name);
  if (others.length === 0) return true;
  const { chosen, isComplete } = await choose(others);
  for (const one of chosen) await one.drop();
  return isComplete;
}

async function dropAll(workspace: string): Promise<boolean> {
  for (const one of await heldBack({ workspace })) await one.drop();
  return true;
}

/** Puts changes in place; those of one file in the order of time, up to the first that does not fit. */
async function acceptAll(names: readonly string[]): Promise<boolean> {
  const { chosen, isComplete } = await choose(names);
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

/** Finds changes by ids and paths of files, and says which of these have none. */
async function choose(names: readonly string[]): Promise<Choice> {
  const all = await heldBack();
  const chosen = new Map<string, Held>();
  let isComplete = true;
  for (const name of names) {
    const byId = all.filter(({ id }) => id === name);
    const found = byId.length > 0 ? byId : await heldBack({ file: name });
    for (const one of found) chosen.set(one.id, one);
    if (found.length > 0) continue;
    note(`${visibleText(name)}: nothing is held back by this id or path; forkline held lists all`);
    isComplete = false;
  }
  return { chosen: [...chosen.values()], isComplete };
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
