import { createOwner } from '../../engine/owner.js';
import { InputError } from '../../pipeline/input-error.js';
import { CANCELLED } from '../../pipeline/notices.js';
import { UnderWay } from '../../pipeline/under-way.js';
import { checkCommand, createValidator } from '../../pipeline/validate.js';
import { type BashTool, SHELL_HINTS, type ToolCall, type ToolResult } from '../contract.js';
import { ToolAbortError, ToolError, toToolError } from '../errors.js';
import { type ModesOptions, type ModesSettings, resolveModesOptions } from './options.js';
import type { ModesDetails } from './result.js';
import { runForeground, runInBackground } from './run.js';
import { type ModesInput, modesDescription, modesSchema } from './schema.js';

/** A tool of the `modes` contract. */
export type ModesTool = BashTool<ModesDetails>;

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
  const owner = createOwner();
  const running = new UnderWay();
  let disposed = false;

  async function answer(
    input: unknown,
    call: ToolCall<ModesDetails>,
  ): Promise<ToolResult<ModesDetails>> {
    const { command, mode = 'default' } = await validate(input);
    checkCommand(command);
    checkLength(command, settings);
    call.signal?.throwIfAborted();
    if (disposed) throw new ToolAbortError(CANCELLED);
    return running.add(
      mode === 'background'
        ? runInBackground(command, settings)
        : runForeground(command, mode, call, owner, settings),
    );
  }

  return {
    name: 'bash',
    get description() {
      return modesDescription(settings);
    },
    inputSchema,
    strict: true,
    concurrency: 'shared',
    hints: SHELL_HINTS,
    companions: [],
    async execute(input, call = {}) {
      if (disposed) throw new ToolError('disposed', 'The bash tool was disposed.');
      try {
        return await answer(input, call);
      } catch (error) {
        throw toToolError(error, call.signal);
      }
    },
    async dispose() {
      disposed = true;
      await owner.dispose(settings.graceMs);
      await running.settled();
    },
  };
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
