import { readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LaunchError } from '../../engine/launch-error.js';
import type { EngineCommand } from '../../engine/message.js';
import { ERRNO } from '../../engine/system-error.js';
import type { LimitsReport, ReachedLimit } from '../../engine/told/limits-report.js';
import type { CommandLimits } from '../../options/limits.js';
import { hasCode, messageOf } from '../../support/errors.js';
import { pause } from '../../support/timing.js';
import { type Group, makeGroup } from './group.js';
import type { Controller } from './hierarchies.js';

/** Returns whether control groups must be made for these limits before the command can start. */
export function needsGroups(limits: CommandLimits | undefined): limits is CommandLimits {
  return limits?.memoryBytes !== undefined || limits?.processes !== undefined;
}

/**
 * Reports how each of these limits is enforced.
 *
 * @param reached Those that the command has run into.
 */
export function reportOf(
  limits: CommandLimits,
  groups: LimitGroups | undefined,
  reached: readonly ReachedLimit[] = [],
): LimitsReport {
  return {
    ...(limits.memoryBytes !== undefined && { memoryBytes: groups?.memoryBy ?? 'group' }),
    ...(limits.processes !== undefined && { processes: 'group' }),
    ...(limits.cpuSeconds !== undefined && { cpuSeconds: 'rlimit' }),
    ...(reached.length > 0 && { reached }),
  };
}

/** The control groups of one command, or the `oom_score_adj` in place of one for memory. */
export class LimitGroups {
  readonly #made: readonly Group[];
  /** The group that limits memory; undefined: there is none. */
  readonly #memory: Group | undefined;
  readonly #isSacrificed: boolean;
  /** The group that limits processes; undefined: there is none. */
  readonly #processes: Group | undefined;
  #kills: Promise<number> | undefined;
  #refusals: Promise<number> | undefined;

  private constructor(
    made: readonly Group[],
    { memory, processes }: Readonly<Record<'memory' | 'processes', Group | undefined>>,
    isSacrificed: boolean,
  ) {
    this.#made = made;
    this.#memory = memory;
    this.#processes = processes;
    this.#isSacrificed = isSacrificed;
  }

  /**
   * Makes the groups that the limits need, below the host's own group or beside it. If no group can limit
   * memory, the kernel is told to kill the command first when memory runs out.
   *
   * @throws {LaunchError} A limit can't be enforced; the message says which, and why.
   */
  static async make({ memoryBytes, processes }: CommandLimits): Promise<LimitGroups> {
    const made: Group[] = [];
    const add = async (controller: Controller, limit: number): Promise<Group> => {
      const group = await makeGroup(controller, limit, made);
      if (!made.includes(group)) made.push(group);
      return group;
    };
    try {
      const pids =
        processes === undefined
          ? undefined
          : await add('pids', processes).catch((error) => refuse('processes', error));
      const memory =
        memoryBytes === undefined
          ? undefined
          : await add('memory', memoryBytes).catch(checkSacrifice);
      const isSacrificed = memoryBytes !== undefined && memory === undefined;
      return new LimitGroups(made, { memory, processes: pids }, isSacrificed);
    } catch (error) {
      await remove(made);
      throw error;
    }
  }

  /** How the limit of memory is enforced, if there is one. */
  get memoryBy(): NonNullable<LimitsReport['memoryBytes']> {
    return this.#isSacrificed ? 'oom-score' : 'group';
  }

  /** Returns the command with these groups, as it is to be started. */
  appliedTo(command: EngineCommand): EngineCommand {
    // A process that writes 0 into such a file enters the group.
    const entrances = this.#made.map(({ path }) => join(path, 'cgroup.procs'));
    const groups = entrances.length === 0 ? undefined : entrances.join('\0');
    return { ...command, groups, isSacrificed: this.#isSacrificed };
  }

  /** Returns the number of out-of-memory kills in the command's group. Later calls return the same number. */
  memoryKills(): Promise<number> {
    this.#kills ??= this.#countKills();
    return this.#kills;
  }

  /** Returns the number of out-of-memory kills so far, for a command that still runs. */
  memoryKillsSoFar(): Promise<number> {
    return this.#kills ?? this.#countKills();
  }

  async #countKills(): Promise<number> {
    if (this.#memory === undefined) return 0;
    const { version, path } = this.#memory;
    // The file of version 2 also counts kills in groups that the command has made below its own.
    const file = version === 1 ? 'memory.oom_control' : 'memory.events';
    return countIn(path, file, 'oom_kill');
  }

  /** Returns how often a process could not be started. Later calls return the same number. */
  refusedProcesses(): Promise<number> {
    this.#refusals ??= this.refusedProcessesSoFar();
    return this.#refusals;
  }

  /** Returns how often a process could not be started so far, for a command that still runs. */
  async refusedProcessesSoFar(): Promise<number> {
    return this.#processes === undefined ? 0 : countIn(this.#processes.path, 'pids.events', 'max');
  }

  /** Removes the groups if no process is left in them. The counts stay known. */
  async remove(): Promise<void> {
    await Promise.all([this.memoryKills(), this.refusedProcesses()]);
    await remove(this.#made);
  }
}

/** Reads one number of a group; 0: it can't be read. */
async function countIn(path: string, file: string, name: 'oom_kill' | 'max'): Promise<number> {
  const text = await readFile(join(path, file), 'utf8').catch(() => '');
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

/** The highest `oom_score_adj`: the kernel kills processes with it first when memory runs out. */
const MOST = 1000;

/**
 * Checks that the kernel can be told to kill a command before its host, in place of a group for memory.
 *
 * @param reason The error for which there is no group.
 * @throws {LaunchError} The host has the highest `oom_score_adj` already, or its own can't be read.
 */
async function checkSacrifice(reason: unknown): Promise<undefined> {
  const own = await readFile('/proc/self/oom_score_adj', 'utf8').catch(() => '');
  if (own.trim() === '') refuse('memoryBytes', reason);
  if (Number(own) < MOST) return undefined;
  const why = `${messageOf(reason)}; and the oom_score_adj of the host is ${MOST} already`;
  return refuse('memoryBytes', new Error(why));
}

function refuse(limit: keyof CommandLimits, reason: unknown): never {
  const subject = `limits.${limit}`;
  const message =
    `${subject} needs a control group that is delegated to this user (systemd: ` +
    `\`Delegate=yes\`): ${messageOf(reason)}`;
  const errno = hasCode(reason, 'EBUSY') ? ERRNO.EBUSY : ERRNO.EACCES;
  throw new LaunchError({ step: 'limits', errno, subject, message });
}

/** Times before each try to remove groups: a process that has just been reaped may still be in its group. */
const WAITS_MS = [0, 1, 5, 20, 100, 500] as const;

async function remove(groups: readonly Group[]): Promise<void> {
  for (const wait of WAITS_MS) {
    if (wait > 0) await pause(wait);
    const left = await Promise.all(groups.map(({ path }) => rmdir(path).then(gone, isThere)));
    if (!left.includes(true)) return;
  }
}

const gone = () => false;
const isThere = (error: unknown): boolean => hasCode(error, 'EBUSY');
