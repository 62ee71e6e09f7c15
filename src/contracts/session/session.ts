import type { Owner } from '../../engine/owner.js';
import type { ExecuteOptions } from '../../options/command-options.js';
import { ToolAbortError, ToolError } from '../errors.js';
import { CANCELLED } from '../notices.js';
import { commandOptions } from '../options.js';
import { explainLaunch } from '../workdir.js';
import type { Place, SessionDirectory } from './directory.js';
import type { SessionSettings } from './options.js';
import { streamLimits } from './output.js';
import type { CallTimeout } from './result.js';
import type { SessionTasks } from './tasks/session-tasks.js';

/** The state that the calls of a session share. */
export interface Session {
  readonly settings: SessionSettings;
  readonly owner: Owner;
  readonly directory: SessionDirectory;
  readonly tasks: SessionTasks;
}

/** Starts a command. When its directory does not exist any more, moves the session back to its start. */
export async function inPlace<T>(
  session: Session,
  from: Place,
  start: () => Promise<T>,
): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (session.owner.isDisposed) throw new ToolAbortError(CANCELLED, { cause: error });
    const found = await explainLaunch(error, from.path);
    if (!(found instanceof ToolError) || found.kind !== 'directory') throw found;
    const message = session.directory.lose(from, found.message);
    throw new ToolError('directory', message, { cause: error });
  }
}

/** Makes the options of a command that starts where the session is. */
export function sessionOptions(
  { settings, owner }: Session,
  from: Place,
  { milliseconds }: CallTimeout,
  listening?: Pick<ExecuteOptions, 'signal' | 'onOutput'>,
): ExecuteOptions & { readonly streams: 'separate' } {
  const own = { cwd: from.path, timeoutMs: milliseconds, owner, ...listening };
  const limits = streamLimits(settings.maxCharacters);
  return { ...commandOptions(settings, limits, own), streams: 'separate' };
}
