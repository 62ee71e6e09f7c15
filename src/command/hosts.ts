import type { CommandEvents, EngineCommand } from '../engine/message.js';
import type { Owner } from '../engine/owner.js';
import { type CommandHandle, type CommandHost, EngineProcess } from '../engine/process.js';
import { beforeSandboxed } from './after/in-sandbox.js';
import { decoding } from './encoding/decoding.js';

/** The `CommandHost` of each owner with commands that do not run in the engine of this process. */
const hostsOfOwners = new WeakMap<Owner, CommandHost>();

/** Runs the commands of this owner on `host` from now on; `host` decodes their output. */
export function runElsewhere(owner: Owner, host: CommandHost): void {
  hostsOfOwners.set(owner, host);
}

/** Starts a command in the engine of this process; before a sandboxed one, notes the state of checkouts. */
export function startHere(
  owner: Owner,
  command: EngineCommand,
  events: CommandEvents,
): CommandHandle {
  const { sandbox, encoding } = command;
  if (sandbox !== undefined) beforeSandboxed(command);
  const engine = encoding === undefined ? EngineProcess : decoding(EngineProcess, encoding);
  return engine.start(owner, command, events);
}

/** Starts a command at the host of its owner. */
export function startFor(
  owner: Owner,
  command: EngineCommand,
  events: CommandEvents,
): CommandHandle {
  const host = hostsOfOwners.get(owner);
  return host === undefined
    ? startHere(owner, command, events)
    : host.start(owner, command, events);
}
