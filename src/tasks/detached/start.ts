import { executeDetached } from '../../command/detached.js';
import type { OnExec } from '../../engine/exec/exec-request.js';
import type { Priority } from '../../options/command-options.js';
import { type PtyOption, terminalSize } from '../../options/terminal.js';
import { sandboxOfCommand } from '../../sandbox/of-command.js';
import type { SandboxOption } from '../../sandbox/policy.js';
import { readSandbox } from '../../sandbox/read-policy.js';
import type { UndoOption } from '../../sandbox/undo/undo-policy.js';
import { withUndo } from '../../sandbox/undo/with-undo.js';
import { InputError } from '../../support/errors.js';
import type { DetachedNotify } from '../notify/notify.js';
import { DetachedSubject } from './detached-subject.js';
import { markDetached } from './end-checkouts.js';
import { writeBounds } from './place/bounds.js';
import { noteDeniedHosts } from './place/denied-hosts.js';
import { type DetachedOrder, writeOrder } from './place/order.js';
import { makePlace, removePlace, type TaskPlace } from './place/place.js';
import { findDetached } from './registry.js';
import { writeNotify } from './watches/record.js';

/** Settings for starting a detached command. Times in milliseconds, sizes in bytes. */
interface DetachedStart extends Omit<DetachedOrder, 'askedAt' | 'command' | 'terminal'> {
  /** Whether it runs on a terminal, and that terminal's size. */
  readonly pty: PtyOption | undefined;
  /** Whether the command's outcome is written below its output, after a blank line. */
  readonly completionLine: boolean;
  /** Paths of shells, tried in order. */
  readonly shell: readonly string[] | undefined;
  readonly priority: Priority | undefined;
  readonly startsAtOnce: number | undefined;
  readonly umask: number | undefined;
  /** A directory in which the output is to be linked; undefined: none. */
  readonly outputLinkedIn?: string | undefined;
  /** Answers whether a program may be executed, as long as this host lives. */
  readonly onExec: OnExec | undefined;
  /** The sandbox: which paths and hosts the command may write to, read and reach. */
  readonly sandbox: SandboxOption | undefined;
  /** Whether what it changes can be taken back, in place of what the sandbox says. Default: what that says. */
  readonly undo?: UndoOption | undefined;
  /** What is to be told of it, and whom. Default: nothing. */
  readonly notify?: DetachedNotify | undefined;
}

/**
 * Creates a place for a detached command, and stores its options there.
 *
 * @throws No place can be created, or its disk is full.
 */
export async function prepareDetached(
  command: string,
  start: DetachedStart,
): Promise<{ readonly place: TaskPlace; readonly order: DetachedOrder }> {
  const { cwd, timeoutMs, graceMs, outputQuota } = start;
  const terminal = terminalSize(start.pty);
  const hasInput = start.hasInput || terminal !== undefined;
  const longestMs = timeoutMs === undefined ? undefined : timeoutMs + graceMs;
  const place = await makePlace(longestMs, start.outputLinkedIn);
  try {
    const askedAt = Date.now();
    const limits = { timeoutMs, graceMs, outputQuota };
    const order = { command, cwd, ...limits, hasInput, terminal, askedAt };
    await writeOrder(place.directory, order);
    return { place, order };
  } catch (error) {
    await removePlace(place);
    throw error;
  }
}

/**
 * Starts a detached command in its place, which is removed if that fails.
 *
 * @param environment The environment block, as `resolveEnvironment` makes it.
 * @returns Its process id.
 * @throws {InputError} An option is not valid.
 * @throws {LaunchError} The command could not be started.
 */
export async function startInPlace(
  place: TaskPlace,
  command: string,
  environment: string,
  start: DetachedStart,
): Promise<number> {
  let stopNoting: (() => void) | undefined;
  try {
    if (start.notify !== undefined) await writeNotify(place.directory, start.notify);
    const policy = readSandbox(withUndo(start.sandbox, start.undo));
    const sandbox = policy && sandboxOfCommand(policy, start.cwd, command);
    if (sandbox !== undefined) await writeBounds(place.directory, sandbox);
    if (sandbox?.proxyPort !== undefined) {
      stopNoting = noteDeniedHosts(place.directory, sandbox.plan);
    }
    if (sandbox !== undefined) markDetached(place.directory, environment, sandbox);
    const { outputLinkedIn: _, ...rest } = start;
    const options = { ...rest, outputPath: place.output, sandbox };
    return await executeDetached(command, environment, options);
  } catch (error) {
    stopNoting?.();
    await removePlace(place);
    throw error;
  }
}

/**
 * Starts a command that outlives the host, and follows it.
 *
 * @param environment The environment block, as `resolveEnvironment` makes it.
 * @throws As {@link prepareDetached} and {@link startInPlace}.
 */
export async function startDetachedSubject(
  command: string,
  environment: string,
  start: DetachedStart,
): Promise<DetachedSubject> {
  const { place, order } = await prepareDetached(command, start);
  await startInPlace(place, command, environment, start);
  return DetachedSubject.open(place, order);
}

/**
 * Follows a detached command that any process of the user has started.
 *
 * @throws {InputError} There is no task with this id, or nothing can be told of it.
 */
export async function openDetached(id: string): Promise<DetachedSubject> {
  const { place, order } = await findDetached(id);
  const subject = await DetachedSubject.open(place, order);
  const { state, record } = subject;
  if (order.trouble !== undefined && state.kind === 'lost' && record.pid === 0) {
    throw new InputError(`id: nothing is known of task ${id}: ${order.trouble}; ${state.reason}`);
  }
  return subject;
}
