import { spawn } from 'node:child_process';
import type { EngineCommand, EngineFailure } from '../../message.js';
import { ERRNO } from '../../system-error.js';
import { errnoOf, errnoText, launchFailure } from '../failure.js';
import { variablesOf } from './environment.js';
import { childLeader, type Leader } from './leader.js';
import { namedCall, programCall } from './program.js';
import { type ShellInvocation, shellCall, usualShells } from './shells.js';
import { launchOnTerminal } from './terminal.js';

type Attempt = Leader | EngineFailure | { readonly errno: number };

/**
 * Starts a command by the first shell that exists.
 *
 * @param directory The working directory, from {@link directoryOf}.
 * @param isWanted Called before each attempt.
 */
export async function launch(
  command: EngineCommand,
  directory: string,
  owner: number,
  isWanted: () => boolean,
): Promise<Leader | EngineFailure | undefined> {
  const environment = variablesOf(command.environment, owner);
  const calls = callsOf(command, directory, environment);
  if (!Array.isArray(calls)) {
    const { errno, named } = calls;
    return launchFailure(errno, [named], directory, command.environment);
  }
  let errno: number = ERRNO.ENOENT;
  for (const call of calls) {
    if (!isWanted()) return undefined;
    const attempt = attemptLaunch(call, command, directory, environment);
    const outcome = attempt instanceof Promise ? await attempt : attempt;
    if ('pid' in outcome || 'step' in outcome) return outcome;
    errno = outcome.errno;
    if (errno !== ERRNO.ENOENT && errno !== ERRNO.ENOTDIR) break;
  }
  return launchFailure(errno, calls, directory, command.environment);
}

/** Returns the calls of shells for a text, or of the one program. */
function callsOf(
  command: EngineCommand,
  directory: string,
  environment: Readonly<Record<string, string>>,
): ShellInvocation[] | { readonly errno: number; readonly named: ShellInvocation } {
  const { argv, shells } = command;
  if (argv !== undefined) {
    const call = programCall(argv, command, directory, environment.PATH);
    return 'errno' in call ? { ...call, named: namedCall(argv) } : [call];
  }
  const paths = shells === '' ? usualShells(environment) : shells.split('\0');
  return paths.map((path) => shellCall(path, command));
}

/**
 * Returns a command's working directory: by default the host's current one. A directory that was removed
 * has no path by which another process could enter it.
 */
export function directoryOf({ directory }: EngineCommand): string | EngineFailure {
  try {
    return directory ?? process.cwd();
  } catch (error) {
    const [errno, subject] = [errnoOf(error), "the host's working directory"];
    return { step: 'directory', errno, subject, message: `no ${subject}: ${errnoText(errno)}` };
  }
}

function attemptLaunch(
  call: ShellInvocation,
  command: EngineCommand,
  cwd: string,
  env: Record<string, string>,
): Attempt | Promise<Attempt> {
  try {
    const { terminal, lowPriority } = command;
    if (terminal !== undefined) return launchOnTerminal(call, terminal, lowPriority, cwd, env);
    const child = spawn(call.path, call.args, {
      argv0: call.name,
      cwd,
      env,
      // Starts a session, and so a process group, of its own.
      detached: true,
      stdio: descriptorsOf(call, command),
    });
    if (child.pid !== undefined) return childLeader(child, child.pid, call, command);
    // Some failures are thrown by Node, and others reported in the next turn.
    return new Promise((resolve) => {
      child.once('error', (error) => resolve({ errno: errnoOf(error) }));
    });
  } catch (error) {
    return { errno: errnoOf(error) };
  }
}

type Descriptor = 'ignore' | 'pipe';

function descriptorsOf(call: ShellInvocation, { stdin }: EngineCommand): Descriptor[] {
  const descriptors: Descriptor[] = [stdin === false ? 'ignore' : 'pipe', 'pipe', 'pipe'];
  descriptors.push(call.script === undefined ? 'ignore' : 'pipe');
  const { directoryDescriptor } = call;
  if (directoryDescriptor === undefined) return descriptors;
  while (descriptors.length < directoryDescriptor) descriptors.push('ignore');
  return [...descriptors, 'pipe'];
}
