import { isatty } from 'node:tty';
import { Command } from 'commander';
import { attach, InputError } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { USAGE_ERROR } from '../exit-code.js';
import { note } from '../notes.js';
import { expectOutputErrors } from '../standard-output.js';
import { showOnTerminal } from './show-on-terminal.js';
import { endTask, showTask } from './show-task.js';

/** The exit code when the task could not be looked at. */
const FAILED = 1;

interface AttachFlags {
  readonly end?: true;
  readonly detachKeys?: string;
}

/** Makes `forkline attach`: shows and drives one detached task. */
export function attachCommand(): Command {
  return new Command('attach')
    .description('Show a detached task: its output, from its start on; exit with its exit code')
    .argument('<id>', 'the id of the task, as forkline tasks lists it')
    .option('--end', 'end the task and all that it has started, and show nothing')
    .option('--detach-keys <keys>', 'what leaves a terminal: ctrl-p,ctrl-q; default: ctrl-\\')
    .action(async (id: string, { end, detachKeys }: AttachFlags) => {
      expectOutputErrors();
      try {
        const task = await attach(id);
        const { terminal } = task.record;
        const isShown = terminal !== undefined && isatty(0) && isatty(1);
        const show = () => (isShown ? showOnTerminal(task, detachKeys) : showTask(task.subject));
        process.exitCode = await (end ? endTask(task.subject) : show());
      } catch (error) {
        note(messageOf(error));
        process.exitCode = error instanceof InputError ? USAGE_ERROR : FAILED;
      }
    });
}
