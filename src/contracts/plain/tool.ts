import { type BashTool, SHELL_HINTS, type ToolCall, type ToolResult } from '../contract.js';
import { ToolError, toToolError } from '../errors.js';
import { Lifetime } from '../lifetime.js';
import { momentOf } from '../options.js';
import { createValidator } from '../validate.js';
import { completeTool } from '../ways/complete.js';
import { type PlainOptions, resolvePlainOptions } from './options.js';
import { failedResult, type PlainDetails } from './result.js';
import { type PlainMoment, runPlainCommand } from './run.js';
import { PLAIN_OUTPUT_SCHEMA, PLAIN_SCHEMA, type PlainInput, plainDescription } from './schema.js';

/**
 * A tool of the `plain` contract. What goes wrong with a command is an answer with `error`, not an
 * exception; only a cancelled call is rejected, and one after the tool was disposed of.
 */
export interface PlainTool extends BashTool<PlainDetails, PlainInput>, AsyncDisposable {
  /** JSON Schema of a result's `structured`. */
  readonly outputSchema: NonNullable<BashTool['outputSchema']>;
}

type Answer = ToolResult<PlainDetails>;

/**
 * The `plain` contract: a command in, stdout, stderr and the exit code out.
 *
 * @throws {InputError} An option is not valid.
 */
export function createPlainTool(options: PlainOptions): PlainTool {
  const settings = resolvePlainOptions(options);
  const validate = createValidator<PlainInput>(PLAIN_SCHEMA);
  const life = new Lifetime();

  async function answer(input: unknown, call: ToolCall<PlainDetails>): Promise<Answer> {
    // First of all, since waiting is what comes next.
    const moment = { ...momentOf(settings), cwd: settings.cwd() };
    const checked = await attempt(async () => (await validate(input)).command, call);
    if (typeof checked !== 'string') return checked;
    const entry = settings.log?.begin(checked, call.signal);
    const running = attempt(() => run(checked, call, moment), call);
    return entry?.ofRun(running) ?? running;
  }

  async function run(
    command: string,
    call: ToolCall<PlainDetails>,
    moment: PlainMoment,
  ): Promise<Answer> {
    life.checkStart(call.signal);
    return runPlainCommand(command, { owner: life.owner, settings, call, moment });
  }

  /** Does it; what goes wrong becomes an answer if the contract has one for it. */
  async function attempt<T>(
    action: () => Promise<T>,
    { signal }: ToolCall<PlainDetails>,
  ): Promise<T | Answer> {
    try {
      return await action();
    } catch (reason) {
      const error = toToolError(reason, signal);
      if (!(error instanceof ToolError)) throw error;
      const { kind, message } = error;
      if (kind === 'input' || kind === 'directory' || kind === 'launch') {
        return failedResult(kind, message, settings);
      }
      throw error;
    }
  }

  return completeTool<PlainTool>({
    name: 'bash',
    description: plainDescription(settings),
    inputSchema: PLAIN_SCHEMA,
    outputSchema: PLAIN_OUTPUT_SCHEMA,
    strict: true,
    // Nothing is carried over from one command to another.
    concurrency: 'shared',
    hints: SHELL_HINTS,
    companions: [],
    // Its end waits for the log, too.
    execute: (input, given) => life.call(input, given, (...call) => life.add(answer(...call))),
    [Symbol.asyncDispose]() {
      return this.dispose();
    },
    async dispose() {
      await life.end(settings.graceMs);
      await settings.log?.flush();
    },
  });
}
