import { resolve } from 'node:path';
import { startDetached } from '../engine/detached.js';
import { isWatched, traceCommand } from '../receipt/trace.js';
import { sandboxEnvironment } from '../sandbox/environment.js';
import type { ResolvedSandbox } from '../sandbox/resolve.js';
import { checkExecuteOptions, type ExecuteOptions } from './options.js';

/** Options of a command that outlives the host. Times in milliseconds. */
interface DetachedOptions extends Pick<ExecuteOptions, 'shell'> {
  readonly cwd: string;
  /** The file for its output; must not exist. */
  readonly outputPath: string;
  /** The most bytes of output that are kept; what is over that is cut off. */
  readonly outputQuota: number;
  /** Time that it may take from its start; then it is ended like any command. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Time from SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** Whether it has a stdin that can be written to, by its keeper's socket. */
  readonly hasInput: boolean;
  /** Whether how it ended is written under its output, after a blank line. */
  readonly completionLine: boolean;
  /** Where the host's commands with its policy run. */
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
  const { outputPath, outputQuota, hasInput, completionLine, sandbox, ...rest } = options;
  checkExecuteOptions(command, rest);
  const directory = resolve(rest.cwd);
  const detached = {
    text: command,
    shells: rest.shell?.join('\0') ?? '',
    environment: sandbox === undefined ? environment : sandboxEnvironment(environment, sandbox),
    directory,
    outputPath: resolve(outputPath),
    outputQuota,
    timeoutMs: rest.timeoutMs ?? Number.POSITIVE_INFINITY,
    graceMs: rest.graceMs,
    hasInput,
    completionLine,
    sandbox,
  };
  if (!isWatched()) return startDetached(detached);
  const { timeoutMs } = rest;
  return traceCommand({ command, cwd: directory, timeoutMs, detached: true }, (ended) => {
    const starting = startDetached(detached);
    ended(starting.then(() => undefined));
    return starting;
  });
}
