import { formatSize } from '../../support/text.js';
import { formatSeconds } from '../notices.js';
import { describeSandbox } from '../sandbox/description.js';
import type { ObjectSchema } from '../validate.js';
import type { PlainSettings } from './options.js';

/** Input of the `plain` contract, once it is valid. */
export interface PlainInput {
  /** Shell text, run by a fresh `bash -c`. */
  readonly command: string;
}

/** The description of the tool, for the model. */
export function plainDescription(
  settings: Pick<PlainSettings, 'timeoutSeconds' | 'maxStdoutBytes' | 'maxStderrBytes' | 'sandbox'>,
): string {
  const { timeoutSeconds, maxStdoutBytes, maxStderrBytes } = settings;
  const sandbox = describeSandbox(settings.sandbox);
  return (
    'Execute a bash command and return stdout/stderr. It may take ' +
    `${formatSeconds(timeoutSeconds)}, and reads no input. At most ${formatSize(maxStdoutBytes)} ` +
    `of stdout and ${formatSize(maxStderrBytes)} of stderr are returned. What is started with \`&\` ` +
    `goes on; \`notice\` says how to stop it.${sandbox === undefined ? '' : ` ${sandbox}`}`
  );
}

export const PLAIN_SCHEMA: ObjectSchema = {
  type: 'object',
  properties: {
    command: { type: 'string', description: 'The bash command to execute' },
  },
  required: ['command'],
  additionalProperties: false,
};

/** The answer about a command that ran. */
export interface PlainSuccess {
  /** Output on stdout, cut if it is long. */
  readonly stdout: string;
  /** Output on stderr, cut if it is long. */
  readonly stderr: string;
  /** The command's exit code, 0 to 255. */
  readonly exitCode: number;
  /** Processes that still run and how to stop them, and other notices; a line each. */
  readonly notice?: string;
}

/** The answer when something went wrong, with the output and the exit code if there are any. */
export interface PlainFailure extends Partial<PlainSuccess> {
  /** The error, as a text for the model. */
  readonly error: string;
}

/** The answer as data. */
export type PlainOutput = PlainSuccess | PlainFailure;

/** The schema of both answers as one object, since model APIs take no schema whose root is a choice. */
export const PLAIN_OUTPUT_SCHEMA: ObjectSchema = {
  type: 'object',
  properties: {
    stdout: { type: 'string', description: 'Standard output' },
    stderr: { type: 'string', description: 'Standard error' },
    exitCode: { type: 'integer', description: 'Exit code of the command' },
    error: { type: 'string', description: 'What went wrong, if anything did' },
    notice: { type: 'string', description: 'What else to know, such as what still runs' },
  },
  anyOf: [{ required: ['stdout', 'stderr', 'exitCode'] }, { required: ['error'] }],
  additionalProperties: false,
};
