import type { Owner } from '../../engine/owner.js';
import type { CommandChanges, Reverted } from '../../engine/undo/changes.js';
import { InputError, showValue } from '../../support/errors.js';
import { NOTHING_REVERTED } from './elsewhere.js';
import { changesOf } from './list.js';
import { revertById } from './revertible.js';

/** What the commands of a tool have changed. */
export interface ToolChanges {
  /**
   * Lists the commands that have ended and have changed something, the oldest first: the last 1,000, without those
   * that are detached. A persistent shell is one of them, with all its calls, also while it runs.
   *
   * @throws {Error} The system's error.
   */
  list(): Promise<readonly CommandChanges[]>;
  /**
   * Takes back what this command has changed, and all later ones of the tool.
   *
   * @throws {InputError} No command of the list has this id.
   * @throws {Error} The record of a command is gone, or can't be read.
   */
  revertTo(id: string): Promise<Reverted>;
}

/** A command of an owner that has changed something. */
interface OwnersCommand {
  /** Its journal. */
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
}

const MOST_COMMANDS = 1000;

const commandsOf = new WeakMap<Owner, Map<string, OwnersCommand>>();

/** Notes that a command of an owner has changed something; once for each journal. */
export function noteOfOwner(owner: Owner, command: OwnersCommand): void {
  const known = commandsOf.get(owner) ?? new Map<string, OwnersCommand>();
  commandsOf.set(owner, known);
  if (!known.has(command.id)) known.set(command.id, command);
  const [oldest] = known.keys();
  if (known.size > MOST_COMMANDS && oldest !== undefined) known.delete(oldest);
}

/** Returns what the commands of an owner have changed. */
export function changesOfOwner(owner: Owner): ToolChanges {
  return {
    async list() {
      const known = commandsOf.get(owner);
      if (known === undefined) return [];
      const found: CommandChanges[] = [];
      for (const { id, command, cwd } of known.values()) {
        const changes = await changesOf(id, { line: command, cwd });
        if (changes !== undefined) found.push(changes);
      }
      return found.sort((one, other) => one.at - other.at);
    },
    async revertTo(id) {
      const all = await this.list();
      const index = all.findIndex((one) => one.id === id);
      // What was taken back already is as it was before, and not as the last of them has left it.
      const left = all.slice(index).filter(({ isReverted }) => !isReverted);
      const ids = left.map((one) => one.id);
      if (index >= 0) return ids.length === 0 ? NOTHING_REVERTED : revertById(ids, undefined);
      throw new InputError(`id: expected that of a command in list(), got ${showValue(id)}`);
    },
  };
}
