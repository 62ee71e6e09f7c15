import { onBehalfOfNobody } from '../caller.js';
import type { CommandEvents, CommandHandle, EngineCommand } from '../message.js';
import { PortableCommand } from './command.js';
import { leftoversOf } from './group/leftovers.js';
import { holdFor } from './hold.js';
import { loadTerminals } from './launch/terminal.js';

/** Whose a command is. */
interface PortableOwner {
  readonly id: number;
  /** Nothing is started for it any more. */
  readonly isDisposed: boolean;
}

const running = new Set<PortableCommand>();

/**
 * Starts a command by Node's own means alone. What it can't keep of what the native engine promises
 * stands in docs/portable.md.
 *
 * @throws {InputError} It needs a terminal, and what makes one is not installed.
 */
export function startPortable(
  owner: PortableOwner,
  command: EngineCommand,
  events: CommandEvents,
): CommandHandle {
  if (command.terminal !== undefined) loadTerminals();
  // Timers and pipes of its own belong to no request.
  return onBehalfOfNobody(() => {
    const started = new PortableCommand(owner.id, command, events);
    if (owner.isDisposed) started.cancel();
    running.add(started);
    void started.over().then(() => running.delete(started));
    return started;
  });
}

let owners = 0;

/** A number for an owner of commands. */
export function newPortableOwner(): number {
  owners += 1;
  return owners;
}

/** Ends all that an owner has started: SIGTERM, `graceMs`, SIGKILL. Resolves when it is gone. */
export async function disposePortable(owner: number, graceMs: number): Promise<void> {
  const holder = {};
  holdFor(holder, true);
  const commands = [...running].filter((command) => command.owner === owner);
  for (const command of commands) command.cancel(graceMs);
  const left = leftoversOf(owner).map((leftover) => leftover.end(graceMs));
  await Promise.all([...left, ...commands.map((command) => command.over())]);
  // Those that had ended by themselves when they were to be, and left somebody.
  await Promise.all(leftoversOf(owner).map((leftover) => leftover.end(graceMs)));
  holdFor(holder, false);
}
