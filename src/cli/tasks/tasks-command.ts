import { Command } from 'commander';
import { listTasks, type TaskSummary } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { note } from '../notes.js';
import { expectOutputErrors, writeOrTell } from '../standard-output.js';
import { taskTable } from './table.js';

/** Makes `forkline tasks`: lists the detached tasks of this user. */
export function tasksCommand(): Command {
  return new Command('tasks')
    .description('List the detached tasks: those that run, and for a week those that have ended')
    .option('--json', 'print the list as one line of JSON')
    .action(async ({ json }: { readonly json?: true }) => {
      expectOutputErrors();
      const tasks = await listTasks().catch(untold);
      // With the reasons for what the table has a question mark for.
      for (const { id, state, trouble } of json ? [] : (tasks ?? [])) {
        if (trouble !== undefined && state !== 'lost') note(`${id}: ${trouble}`);
      }
      const text = json ? `${JSON.stringify(tasks)}\n` : taskTable(tasks ?? [], Date.now());
      process.exitCode = tasks !== undefined && (await writeOrTell(text)) ? 0 : 1;
    });
}

/** Handles a directory of tasks that belongs to another user, or is open to others. */
function untold(error: unknown): readonly TaskSummary[] | undefined {
  note(messageOf(error));
  return undefined;
}
