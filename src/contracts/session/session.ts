import { realpath, stat } from 'node:fs/promises';

import { OutputKeeper } from '../../artifacts/keep-output.js';
import type { Owner } from '../../engine/owner.js';
import type { ExecuteOptions } from '../../options/command-options.js';
import { TOOL } from '../contract.js';
import { CANCELLED, ToolAbortError, ToolError } from '../errors.js';
import { commandOptions, placesOfOutput, showingPaths } from '../options.js';
import { explainLaunch } from '../workdir.js';
import type { SessionSettings } from './options.js';
import { streamLimits } from './output.js';
import type { CallTimeout } from './result.js';
import type { SessionTasks } from './tasks/session-tasks.js';

/** A directory in which a command starts. */
export interface Place {
  /** The path as the caller gave it, or as it was found. */
  readonly path: string;
  /** The path without symlinks, as the system reports a process's directory. */
  readonly real: string;
}

/** The kernel's suffix for the path of a directory that has been removed. */
const DELETED = ' (deleted)';

/**
 * The working directory that lasts from one command to the next.
 *
 * Commands may run side by side. Each starts where the session is then. A command that ends in another
 * directory moves the session there; one that ends where it started changes nothing. So of several that move,
 * the last to end decides.
 */
export class SessionDirectory {
  readonly #start: string;
  #now: Place | undefined;

  /** @param start The absolute path of the first directory. */
  constructor(start: string) {
    this.#start = start;
  }

  /** Where the next command will start. */
  get path(): string {
    return this.#now?.path ?? this.#start;
  }

  /** Returns the place for a command that starts now. */
  async here(): Promise<Place> {
    if (this.#now !== undefined) return this.#now;
    const real = await realpath(this.#start).catch(() => this.#start);
    // Another call may have moved meanwhile.
    this.#now ??= { path: this.#start, real };
    return this.#now;
  }

  /**
   * Moves the session to where a command has ended.
   *
   * @param from The place where the command started.
   * @param end The directory where it ended, as the engine reports it; undefined: not known.
   */
  async follow(from: Place, end: string | undefined): Promise<void> {
    if (end === undefined || end === from.real) return;
    const path = await existing(end);
    if (path !== from.real) this.#now = { path, real: path };
  }

  /**
   * Moves the session back to its start, since a command could not be started in its directory.
   *
   * @param why The fault of the directory.
   * @returns A message for the model.
   */
  lose(from: Place, why: string): string {
    // Unless another call has moved it meanwhile.
    if (this.#now === from) this.#now = undefined;
    if (this.path === from.path) return why;
    return `${why}. This command was not run; the next one will start in ${this.path}, as at first.`;
  }
}

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

/** Returns the session with its outputs in sight of its sandbox, whose `/tmp` is its own: a model is told of them. */
export async function showingOutputs(session: Session): Promise<Session> {
  const { settings } = session;
  if (settings.sandbox === undefined) return session;
  const keeper = await OutputKeeper.open(settings.outputs, TOOL);
  keeper.abandon();
  return { ...session, settings: showingPaths(settings, placesOfOutput(keeper.spill(0))) };
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

/**
 * Removes the kernel's suffix from the path of a directory that does not exist, so that the next command's
 * error names it. A directory may really be called `x (deleted)`.
 */
async function existing(path: string): Promise<string> {
  if (!path.endsWith(DELETED)) return path;
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? path : path.slice(0, -DELETED.length);
}
