import { checkCommand } from '../../command/command-line.js';
import { InputError } from '../../support/errors.js';
import { type BashTool, SHELL_HINTS, type ToolCall, type ToolResult } from '../contract.js';
import { Lifetime } from '../lifetime.js';
import type { PendingEntry } from '../log-entry.js';
import { momentOf } from '../options.js';
import { createValidator } from '../validate.js';
import { completeTool } from '../ways/complete.js';
import {
  type Mode,
  type ModesOptions,
  type ModesSettings,
  resolveModesOptions,
} from './options.js';
import type { ModesDetails } from './result.js';
import { type ModesMoment, runForeground, runInBackground } from './run.js';
import { type ModesInput, modesDescription, modesSchema } from './schema.js';

/** A tool of the `modes` contract. */
export type ModesTool = BashTool<ModesDetails, ModesInput> & AsyncDisposable;

/**
 * The `modes` contract: one merged output, returned whole or without its middle, and one field that
 * says whether a command is short, slow, or goes on in the background, whatever becomes of the host.
 *
 * @throws {InputError} An option is not valid.
 */
export function createModesTool(options: ModesOptions): ModesTool {
  const settings = resolveModesOptions(options);
  const inputSchema = modesSchema(settings);
  const validate = createValidator<ModesInput>(inputSchema);
  const life = new Lifetime();

  async function answer(
    input: unknown,
    call: ToolCall<ModesDetails>,
  ): Promise<ToolResult<ModesDetails>> {
    // First of all, since waiting is what comes next.
    const moment = { ...momentOf(settings), cwd: settings.directory() };
    const { command, mode = 'default' } = await validate(input);
    const entry = settings.log?.begin(command, call.signal);
    const running = run(command, mode, call, moment, entry);
    return entry?.ofCall(running) ?? running;
  }

  async function run(
    command: string,
    mode: Mode,
    call: ToolCall<ModesDetails>,
    moment: ModesMoment,
    entry: PendingEntry | undefined,
  ): Promise<ToolResult<ModesDetails>> {
    checkCommand(command);
    checkLength(command, settings);
    life.checkStart(call.signal);
    if (mode === 'background') {
      checkBackground(settings);
      return life.add(runInBackground(command, settings, moment, entry));
    }
    const running = runForeground(command, mode, call, life.owner, settings, moment);
    return life.add(entry?.ofRun(running) ?? running);
  }

  return completeTool<ModesTool>({
    name: 'bash',
    get description() {
      return modesDescription(settings);
    },
    inputSchema,
    strict: true,
    concurrency: 'shared',
    hints: SHELL_HINTS,
    tasks: settings.tasks,
    companions: [],
    execute: (input, given) => life.call(input, given, answer),
    [Symbol.asyncDispose]() {
      return this.dispose();
    },
    async dispose() {
      await life.end(settings.graceMs);
      await settings.outputs.dispose();
      await settings.log?.flush();
    },
  });
}

/** @throws {InputError} Nobody would keep what outlives the host within its limits. */
function checkBackground({ limits }: ModesSettings): void {
  if (limits === undefined) return;
  throw new InputError(
    "mode: expected 'default' or 'slow', since commands have limits, which are kept by their host; " +
      'a command that ends with `&` goes on within them',
  );
}

/** @throws {InputError} It is longer than a command may be. */
function checkLength(command: string, { maxCommandBytes }: ModesSettings): void {
  const bytes = Buffer.byteLength(command);
  if (bytes <= maxCommandBytes) return;
  throw new InputError(
    `command: expected at most ${maxCommandBytes} bytes, got ${bytes}; ` +
      'write a long script to a file, then run the file',
  );
}
