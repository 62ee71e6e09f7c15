import { readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LaunchError } from '../../engine/launch-error.js';
import type { EngineCommand } from '../../engine/message.js';
import type { LimitsReport } from '../../engine/outcome.js';
import { ERRNO } from '../../engine/system-error.js';
import type { CommandLimits } from '../../options/limits.js';
import { hasCode, messageOf } from '../../support/errors.js';
import { pause } from '../../support/timing.js';
import { type Group, makeGroup } from './group.js';
import type { Controller } from './hierarchies.js';

/** Whether something must be made for these before the command can start. */
export function needsGroups(limits: CommandLimits | undefined): limits is CommandLimits {
  return limits?.memoryBytes !== undefined || limits?.processes !== undefined;
}

/** By what each of these is kept. */
export function reportOf(limits: CommandLimits, groups: LimitGroups | undefined): LimitsReport {
  return {
    ...(limits.memoryBytes !== undefined && { memoryBytes: groups?.memoryBy ?? 'group' }),
    ...(limits.processes !== undefined && { processes: 'group' }),
    ...(limits.cpuSeconds !== undefined && { cpuSeconds: 'rlimit' }),
  };
}

/** The control groups of one command, or what stands in for one. */
export class LimitGroups {
  readonly #made: readonly Group[];
  /** Undefined: there is none of it. */
  readonly #memory: Group | undefined;
  readonly #isSacrificed: boolean;
  #kills: Promise<number> | undefined;

  private constructor(made: readonly Group[], memory: Group | undefined, isSacrificed: boolean) {
    this.#made = made;
    this.#memory = memory;
    this.#isSacrificed = isSacrificed;
  }

  /**
   * Makes those that the limits take, below the host's own or beside it. Where there can be none of
   * memory, the command is to be the first that the kernel ends for want of it.
   *
   * @throws {LaunchError} A limit can't be kept; says which, and why.
   */
  static async make({ memoryBytes, processes }: CommandLimits): Promise<LimitGroups> {
    const made: Group[] = [];
    const add = async (controller: Controller, limit: number): Promise<Group> => {
      const group = await makeGroup(controller, limit, made);
      if (!made.includes(group)) made.push(group);
      return group;
    };
    try {
      if (processes !== undefined) {
        await add('pids', processes).catch((error) => refuse('processes', error));
      }
      if (memoryBytes === undefined) return new LimitGroups(made, undefined, false);
      const memory = await add('memory', memoryBytes).catch(checkSacrifice);
      return new LimitGroups(made, memory, memory === undefined);
    } catch (error) {
      await remove(made);
      throw error;
    }
  }

  /** By what the limit of memory is kept, if there is one. */
  get memoryBy(): NonNullable<LimitsReport['memoryBytes']> {
    return this.#isSacrificed ? 'oom-score' : 'group';
  }

  /** The command, as it is to be started. */
  appliedTo(command: EngineCommand): EngineCommand {
    // Who writes 0 into one of these enters it.
    const entrances = this.#made.map(({ path }) => join(path, 'cgroup.procs'));
    const groups = entrances.length === 0 ? undefined : entrances.join('\0');
    return { ...command, groups, isSacrificed: this.#isSacrificed };
  }

  /** How often the kernel has ended a process in it for want of memory. */
  memoryKills(): Promise<number> {
    this.#kills ??= this.#countKills();
    return this.#kills;
  }

  /** The same of a command that goes on: it may be more later. */
  memoryKillsSoFar(): Promise<number> {
    return this.#kills ?? this.#countKills();
  }

  async #countKills(): Promise<number> {
    if (this.#memory === undefined) return 0;
    const { version, path } = this.#memory;
    // That of version 2 counts those of groups that the command has made below, too.
    const file = version === 1 ? 'memory.oom_control' : 'memory.events';
    const text = await readFile(join(path, file), 'utf8').catch(() => '');
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  /** Removes them, when nobody is left in them; what they have counted stays known. */
  async remove(): Promise<void> {
    await this.memoryKills();
    await remove(this.#made);
  }
}

/** That of whom the kernel ends first: nobody has more. */
const MOST = 1000;

/**
 * That a command can be ended before its host, although there can be no group of it.
 *
 * @throws {LaunchError} It can't: the host is among the first already, or nobody can tell.
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

/** Who has just been reaped may still be in it. */
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
