import { formatSize } from '../../support/text.js';
import { describeSandbox } from '../sandbox/description.js';
import type { ObjectSchema } from '../validate.js';
import type { Mode, ModesSettings } from './options.js';

/** Input of the `modes` contract, once it is valid. */
export interface ModesInput {
  /** Shell text, run by a fresh `bash -c`. */
  readonly command: string;
  /** How long the command may take, and whether the call waits for it. Absent: `default`. */
  readonly mode?: Mode;
}

/** The schema of a tool's input. */
export function modesSchema({ timeouts }: ModesSettings): ObjectSchema {
  return {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'Shell command to execute via bash -c' },
      mode: {
        type: 'string',
        enum: ['default', 'slow', 'background'],
        description:
          `Execution mode: default (${short(timeouts.default)} timeout), ` +
          `slow (${short(timeouts.slow)} timeout), background (detached)`,
      },
    },
    required: ['command'],
    additionalProperties: false,
  };
}

/** The description for the model; its last line is the present directory. */
export function modesDescription(settings: ModesSettings): string {
  const { timeouts, maxCommandBytes, maxOutputBytes, snipBytes, directory } = settings;
  const tokens = Math.floor(maxCommandBytes / 4000);
  const sandbox = describeSandbox(settings.sandbox);
  return [
    'Runs a shell command by bash -c and returns what it printed, stdout and stderr combined.',
    'Each command has a fresh shell: directory changes, variables and aliases are gone after it. ' +
      'There is no terminal and no input.',
    ...(sandbox === undefined ? [] : [sandbox]),
    `Of output longer than ${formatSize(maxOutputBytes)} the first and the last ` +
      `${formatSize(snipBytes)} are returned, with the name of a file that has all of it.`,
    '',
    `A command may take ${long(timeouts.default)}. With mode="slow" it may take ` +
      `${long(timeouts.slow)}: use that for builds, downloads, installs, tests and whatever else ` +
      'may take long.',
    '',
    'With mode="background" the call returns at once, and the output goes to a file that it names. ' +
      'Use that for servers, demos and whatever else has to go on running ' +
      `(${long(timeouts.background)} at most).`,
    '',
    `IMPORTANT: Keep commands short. A command must be less than ${tokens}k tokens ` +
      `(${maxCommandBytes} bytes). Write a longer script to a file, then run the file.`,
    '',
    `<pwd>${typeof directory === 'function' ? directory() : directory}</pwd>`,
  ].join('\n');
}

/** Formats seconds: `30s`, `15min`. */
function short(seconds: number): string {
  return seconds >= 60 && seconds % 60 === 0 ? `${seconds / 60}min` : `${seconds}s`;
}

/** Formats seconds: `30 seconds`, `15 minutes`, `24 hours`. */
function long(seconds: number): string {
  if (seconds > 3600 && seconds % 3600 === 0) return `${seconds / 3600} hours`;
  if (seconds > 60 && seconds % 60 === 0) return `${seconds / 60} minutes`;
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}
