import { Command } from 'commander';
import { attach, InputError } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { USAGE_ERROR } from '../exit-code.js';
import { note } from '../notes.js';
import { expectOutputErrors } from '../standard-output.js';
import { endTask, showTask } from './show-task.js';

/** The exit code when the task could not be looked at. */
const FAILED = 1;

/** Makes `forkline attach`: shows and drives one detached task. */
export function attachCommand(): Command {
  return new Command('attach')
    .description('Show a detached task: its output, from its start on; exit with its exit code')
    .argument('<id>', 'the id of the task, as forkline tasks lists it')
    .option('--end', 'end the task and all that it has started, and show nothing')
    .action(async (id: string, { end }: { readonly end?: true }) => {
      expectOutputErrors();
      try {
        const { subject } = await attach(id);
        process.exitCode = await (end ? endTask(subject) : showTask(subject));
      } catch (error) {
        note(messageOf(error));
        process.exitCode = error instanceof InputError ? USAGE_ERROR : FAILED;
      }
    });
}
