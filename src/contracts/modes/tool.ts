import { checkCommand } from '../../command/command-line.js';
import { InputError } from '../../support/errors.js';
import { createContractTool, Lifetime, noted } from '../call.js';
import type { BashTool } from '../contract.js';
import { momentOf } from '../options.js';
import { createValidator } from '../validate.js';
import { type ModesOptions, type ModesSettings, resolveModesOptions } from './options.js';
import type { ModesDetails } from './result.js';
import { type ModesMoment, runForeground, runInBackground } from './run.js';
import { type ModesInput, modesDescription, modesSchema } from './schema.js';

/** A tool of the `modes` contract. */
export type ModesTool = BashTool<ModesDetails, ModesInput> & AsyncDisposable;

/**
 * Makes a tool of the `modes` contract: one merged output, returned whole or without its middle, and one
 * field that says whether a command is short, slow, or runs in the background, where it outlives the host.
 *
 * @throws {InputError} An option is not valid.
 */
export function createModesTool(options: ModesOptions): ModesTool {
  const settings = resolveModesOptions(options);
  const inputSchema = modesSchema(settings);
  const life = new Lifetime();
  const { directory } = settings;
  return createContractTool<ModesTool, ModesInput, ModesDetails, ModesMoment>(
    {
      settings,
      life,
      momentOf() {
        const { inherited, home } = momentOf(settings);
        return { inherited, home, cwd: typeof directory === 'function' ? directory() : directory };
      },
      validate: createValidator<ModesInput>(inputSchema),
      check({ command }) {
        checkCommand(command);
        checkLength(command, settings);
      },
      run({ command, mode = 'default' }, { call, moment, entry }) {
        if (mode !== 'background') {
          return noted(entry, runForeground(command, mode, call, life.owner, settings, moment));
        }
        checkBackground(settings);
        return runInBackground(command, settings, moment, entry);
      },
      async release() {
        // What is not told yet is left to the next tool of its name.
        if (settings.ownsTasks) settings.tasks?.dispose();
        await settings.outputs.dispose();
      },
    },
    {
      get description() {
        return modesDescription(settings);
      },
      inputSchema,
      concurrency: 'shared',
      tasks: settings.tasks,
      companions: [],
    },
  );
}

/** @throws {InputError} Commands have limits, which no process would enforce after the host has ended. */
function checkBackground({ limits }: ModesSettings): void {
  if (limits === undefined) return;
  throw new InputError(
    "mode: expected 'default' or 'slow', since commands have limits, which end with their host; " +
      'to go on in the background within them, end the command with `&`',
  );
}

/** @throws {InputError} The command is too long. */
function checkLength(command: string, { maxCommandBytes }: ModesSettings): void {
  const bytes = Buffer.byteLength(command);
  if (bytes <= maxCommandBytes) return;
  throw new InputError(
    `command: expected at most ${maxCommandBytes} bytes, got ${bytes}; ` +
      'write a long script to a file, then run the file',
  );
}
