import { resolve } from 'node:path';
import { startDetached } from '../engine/detached.js';
import type { ExecuteOptions } from '../options/command-options.js';
import type { CarriedBy } from '../options/roads.js';
import { commandChannel, traceCommand } from '../receipt/trace.js';
import { sandboxEnvironment } from '../sandbox/environment.js';
import type { ResolvedSandbox } from '../sandbox/resolve.js';
import { checkCommand } from './command-line.js';

/**
 * Options of a command that outlives the host, checked. Each option that is carried must be there, so that no
 * caller forgets one.
 */
type DetachedOptions = {
  readonly [Name in Exclude<CarriedBy<'detach'>, 'env' | 'inheritEnv'>]: DetachedValues[Name];
} & {
  /** The file for its output; must not exist. */
  readonly outputPath: string;
  /** The most bytes of output that are kept; what is over that is cut off. */
  readonly outputQuota: number;
  /** Whether it has a stdin that can be written to, by its keeper's socket. */
  readonly hasInput: boolean;
  /** Whether how it ended is written under its output, after a blank line. */
  readonly completionLine: boolean;
};

/** Some values have been made out of what was given. */
interface DetachedValues extends Omit<ExecuteOptions, 'cwd' | 'graceMs' | 'sandbox'> {
  readonly cwd: string;
  readonly graceMs: number;
  readonly sandbox: ResolvedSandbox | undefined;
}

/**
 * Starts a command that goes on when the host ends, however that ends. Its output is appended to a
 * file, mode 0600; its keeper's socket and record are beside that.
 *
 * @param environment The environment block, as `resolveEnvironment` makes it.
 * @returns Its process id, also that of its process group and its session.
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} It could not be started.
 */
export async function executeDetached(
  command: string,
  environment: string,
  options: DetachedOptions,
): Promise<number> {
  const { cwd, timeoutMs, graceMs, shell, priority, umask, sandbox } = options;
  const { outputPath, outputQuota, hasInput, completionLine } = options;
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
    umask,
    hasInput,
    completionLine,
    sandbox,
  };
  if (!commandChannel.hasSubscribers) return startDetached(detached);
  return traceCommand({ command, cwd: directory, timeoutMs, detached: true }, (ended) => {
    const starting = startDetached(detached);
    ended(starting.then(() => undefined));
    return starting;
  });
}
