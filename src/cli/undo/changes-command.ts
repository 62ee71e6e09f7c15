import { Command } from 'commander';
import { findChanges, listChanges } from '../../index.js';
import { visibleText } from '../../support/text.js';
import { answered } from '../answered.js';
import { note } from '../notes.js';
import { writeOrTell } from '../standard-output.js';
import { changeLines, changesTable } from './changes-table.js';

/** The flags of a list. */
interface ChangesFlags {
  readonly json?: true;
  readonly workspace?: string;
}

/** Makes `forkline changes`: lists the commands whose changes can be taken back, or the changes of one. */
export function changesCommand(): Command {
  return new Command('changes')
    .description('What commands have changed that can be taken back, or is held')
    .argument('[id]', 'an id of the list: the changes of that command')
    .option('--json', 'print it as one line of JSON')
    .option('--workspace <directory>', 'only commands in this directory')
    .action((id: string | undefined, { json, workspace }: ChangesFlags, command: Command) => {
      if (id !== undefined && workspace !== undefined) {
        command.error("error: expected an id or '--workspace', not both");
      }
      return answered(() => (id === undefined ? listed(workspace, json) : shown(id, json)));
    });
}

async function listed(workspace: string | undefined, json: true | undefined): Promise<boolean> {
  const all = await listChanges({ workspace });
  return writeOrTell(json ? `${JSON.stringify(all)}\n` : changesTable(all, Date.now()));
}

async function shown(id: string, json: true | undefined): Promise<boolean> {
  const changes = await findChanges(id);
  if (json) return writeOrTell(`${JSON.stringify(changes)}\n`);
  const isWritten = await writeOrTell(changeLines(changes.list));
  if (changes.more > 0) note(`${changes.more} more changes are not listed`);
  for (const why of changes.unseen) note(`not all changes are known: ${visibleText(why)}`);
  for (const { path, reason } of changes.unrevertable) {
    note(`${visibleText(path)}: it can't be taken back: ${visibleText(reason)}`);
  }
  return isWritten;
}
