import { resolve } from 'node:path';
import { inCallersContext } from '../engine/caller.js';
import { startDetached } from '../engine/detached.js';
import type { ExecuteOptions } from '../options/command-options.js';
import type { CarriedBy } from '../options/roads.js';
import { terminalSize } from '../options/terminal.js';
import { isTraced } from '../receipt/channel.js';
import { traceCommand } from '../receipt/trace.js';
import { sandboxEnvironment } from '../sandbox/environment.js';
import type { ResolvedSandbox } from '../sandbox/resolve.js';
import { checkCommand } from './command-line.js';

/**
 * Checked options of a command that outlives the host. No option that `detach()` takes is optional here, so
 * that no caller forgets one.
 */
type DetachedOptions = {
  readonly [Name in Exclude<
    CarriedBy<'detach'>,
    'env' | 'inheritEnv' | 'undo'
  >]: DetachedValues[Name];
} & {
  /** The file for the output; must not exist. */
  readonly outputPath: string;
  /** The most bytes of output that are kept; the rest is cut off. */
  readonly outputQuota: number;
  /** Whether the command has a stdin that can be written to, through its keeper's socket. */
  readonly hasInput: boolean;
  /** Whether a line about how the command ended follows the output, after a blank line. */
  readonly completionLine: boolean;
};

/** The options of a command, with `cwd`, `graceMs` and `sandbox` resolved. */
interface DetachedValues extends Omit<ExecuteOptions, 'cwd' | 'graceMs' | 'sandbox'> {
  readonly cwd: string;
  readonly graceMs: number;
  readonly sandbox: ResolvedSandbox | undefined;
}

/**
 * Starts a command that goes on when the host ends, however the host ends. The output is appended to a
 * file, mode 0600; the keeper's socket and record are beside that file.
 *
 * @param environment The environment block, as `resolveEnvironment` makes it.
 * @returns The command's process id, which is also the id of its process group and its session.
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} The command could not be started.
 */
export async function executeDetached(
  command: string,
  environment: string,
  options: DetachedOptions,
): Promise<number> {
  const { cwd, timeoutMs, graceMs, shell, priority, startsAtOnce, umask, sandbox, pty } = options;
  const { outputPath, outputQuota, hasInput, completionLine } = options;
  const onExec = options.onExec && inCallersContext(options.onExec, options);
  checkCommand(command);
  const directory = resolve(cwd);
  const detached = {
    text: command,
    shells: shell?.join('\0') ?? '',
    environment: sandbox === undefined ? environment : sandboxEnvironment(environment, sandbox),
    directory,
    outputPath: resolve(outputPath),
    outputQuota,
    timeoutMs: timeoutMs ?? Number.POSITIVE_INFINITY,
    graceMs,
    lowPriority: priority === 'low',
    startsAtOnce,
    umask,
    hasInput,
    terminal: terminalSize(pty),
    completionLine,
    sandbox,
  };
  if (!isTraced()) return startDetached(detached, onExec);
  return traceCommand({ command, cwd: directory, timeoutMs, detached: true }, (ended) => {
    const starting = startDetached(detached, onExec);
    ended(starting.then(() => undefined));
    return starting;
  });
}
