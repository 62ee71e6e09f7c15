import { createContractTool, Lifetime, noted } from '../call.js';
import type { BashTool } from '../contract.js';
import { momentOf } from '../options.js';
import { createValidator } from '../validate.js';
import { type PlainOptions, resolvePlainOptions } from './options.js';
import { failedResult, type PlainDetails } from './result.js';
import { type PlainMoment, runPlainCommand } from './run.js';
import { PLAIN_OUTPUT_SCHEMA, PLAIN_SCHEMA, type PlainInput, plainDescription } from './schema.js';

/**
 * A tool of the `plain` contract. A command that fails is an answer with `error`, not an exception. A call
 * is rejected only when it was cancelled, or made after the tool was disposed of.
 */
export interface PlainTool extends BashTool<PlainDetails, PlainInput>, AsyncDisposable {
  /** JSON Schema of a result's `structured`. */
  readonly outputSchema: NonNullable<BashTool['outputSchema']>;
}

/**
 * Makes a tool of the `plain` contract: a command in, stdout, stderr and the exit code out.
 *
 * @throws {InputError} An option is not valid.
 */
export function createPlainTool(options: PlainOptions): PlainTool {
  const settings = resolvePlainOptions(options);
  const life = new Lifetime();
  const { cwd } = settings;
  return createContractTool<PlainTool, PlainInput, PlainDetails, PlainMoment>(
    {
      settings,
      life,
      momentOf() {
        const { inherited, home } = momentOf(settings);
        return { inherited, home, cwd: typeof cwd === 'function' ? cwd() : cwd };
      },
      validate: createValidator<PlainInput>(PLAIN_SCHEMA),
      run: ({ command }, { entry, ...context }) =>
        noted(entry, runPlainCommand(command, life.owner, settings, context)),
      answerTo({ kind, message }) {
        const isAnswered = kind === 'input' || kind === 'directory' || kind === 'launch';
        return isAnswered ? failedResult(kind, message, settings) : undefined;
      },
    },
    {
      description: plainDescription(settings),
      inputSchema: PLAIN_SCHEMA,
      outputSchema: PLAIN_OUTPUT_SCHEMA,
      // No command depends on the one before.
      concurrency: 'shared',
      companions: [],
    },
  );
}
