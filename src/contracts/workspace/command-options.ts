import type { OutputKeeper } from '../../artifacts/keep-output.js';
import type { ExecuteOptions, OutputLimits } from '../../command/options.js';
import type { PreparedCommand } from './input/prepare.js';
import type { RunContext } from './run.js';

/**
 * A command's options, on pipes and on a terminal alike.
 *
 * @param limits What the engine must keep of its output.
 */
export function commandOptions(
  { cwd, timeout }: PreparedCommand,
  { owner, settings, signal }: RunContext,
  keeper: OutputKeeper,
  limits: OutputLimits,
): Omit<ExecuteOptions, 'onOutput' | 'pty' | 'streams'> {
  const { headBytes, tailBytes } = settings.output;
  const spill = keeper.spill(headBytes + tailBytes);
  return {
    cwd,
    timeoutMs: Math.round(timeout.seconds * 1000),
    graceMs: settings.graceMs,
    ...limits,
    owner,
    ...(settings.shell && { shell: settings.shell }),
    ...(signal && { signal }),
    ...(spill && { spill }),
  };
}
