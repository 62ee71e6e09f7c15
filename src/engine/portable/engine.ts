import { onBehalfOfNobody } from '../caller.js';
import type { CommandEvents, CommandHandle, EngineCommand } from '../message.js';
import { PortableCommand } from './command.js';
import { leftoversOf } from './group/leftovers.js';
import { holdFor } from './hold.js';
import { loadTerminals } from './launch/terminal.js';

/** The owner of a command. */
interface PortableOwner {
  readonly id: number;
  /** Whether it was disposed of, so that no command is started for it. */
  readonly isDisposed: boolean;
}

const running = new Set<PortableCommand>();

/**
 * Starts a command by Node's own means alone. The promises of the native engine that it cannot keep are
 * listed in docs/portable.md.
 *
 * @throws {InputError} The command needs a terminal, and the library for terminals is not installed.
 */
export function startPortable(
  owner: PortableOwner,
  command: EngineCommand,
  events: CommandEvents,
): CommandHandle {
  if (command.terminal !== undefined) loadTerminals();
  // Its timers and pipes belong to no request.
  return onBehalfOfNobody(() => {
    const started = new PortableCommand(owner.id, command, events);
    if (owner.isDisposed) started.cancel();
    running.add(started);
    void started.over().then(() => running.delete(started));
    return started;
  });
}

let owners = 0;

/** Returns a number for an owner of commands. */
export function newPortableOwner(): number {
  owners += 1;
  return owners;
}

/** Ends all processes of an owner: SIGTERM, `graceMs`, SIGKILL. Resolves when they are gone. */
export async function disposePortable(owner: number, graceMs: number): Promise<void> {
  const holder = {};
  holdFor(holder, true);
  const commands = [...running].filter((command) => command.owner === owner);
  for (const command of commands) command.cancel(graceMs);
  const left = leftoversOf(owner).map((leftover) => leftover.end(graceMs));
  await Promise.all([...left, ...commands.map((command) => command.over())]);
  // Commands that ended by themselves meanwhile may have left processes.
  await Promise.all(leftoversOf(owner).map((leftover) => leftover.end(graceMs)));
  holdFor(holder, false);
}
