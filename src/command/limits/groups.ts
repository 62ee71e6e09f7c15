import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LaunchError } from '../../engine/launch-error.js';
import { ERRNO } from '../../engine/system-error.js';
import { hasCode, messageOf } from '../../support/errors.js';
import { pause } from '../../support/timing.js';
import { type Controller, findOwnGroup, type OwnGroup } from './hierarchies.js';
import type { CommandLimits } from './limits.js';

/** Whether these are kept by control groups. */
export function needsGroups(limits: CommandLimits | undefined): limits is CommandLimits {
  return limits?.memoryBytes !== undefined || limits?.processes !== undefined;
}

/** The control groups of one command. */
export class LimitGroups {
  /** Directories. */
  readonly #made: readonly string[];
  readonly #memory: OwnGroup | undefined;
  #kills: Promise<number> | undefined;

  private constructor(made: readonly string[], memory: OwnGroup | undefined) {
    this.#made = made;
    this.#memory = memory;
  }

  /**
   * Makes those that the limits take, below the host's own or beside it.
   *
   * @throws {LaunchError} They can't be made; says which limit, and why.
   */
  static async make({ memoryBytes, processes }: CommandLimits): Promise<LimitGroups> {
    const made: string[] = [];
    const add = async (controller: Controller, limit: number): Promise<OwnGroup> => {
      const group = await makeGroup(controller, limit, made);
      if (!made.includes(group.path)) made.push(group.path);
      return group;
    };
    try {
      const memory = memoryBytes === undefined ? undefined : await add('memory', memoryBytes);
      if (processes !== undefined) await add('pids', processes);
      return new LimitGroups(made, memory);
    } catch (error) {
      await remove(made);
      throw error;
    }
  }

  /** Who writes 0 into one of these enters it. */
  get entrances(): readonly string[] {
    return this.#made.map((path) => join(path, 'cgroup.procs'));
  }

  /** How often the kernel has ended a process in it for want of memory. */
  memoryKills(): Promise<number> {
    this.#kills ??= this.#countKills();
    return this.#kills;
  }

  async #countKills(): Promise<number> {
    if (this.#memory === undefined) return 0;
    const { version, path } = this.#memory;
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

const FILES = {
  memory: { 1: 'memory.limit_in_bytes', 2: 'memory.max' },
  pids: { 1: 'pids.max', 2: 'pids.max' },
} as const;

let count = 0;

async function makeGroup(
  controller: Controller,
  limit: number,
  made: readonly string[],
): Promise<OwnGroup> {
  const own = await findOwnGroup(controller);
  if (own === undefined) throw refused(controller, new Error('no control group of it is mounted'));
  const { version } = own;
  const [shared] = made;
  if (version === 2 && shared !== undefined) {
    await setLimit(controller, version, shared, limit);
    return { version, path: shared };
  }
  count += 1;
  const name = `forkline-${process.pid}-${count}`;
  // Of version 2 a group with processes of its own has no limits to hand on: those beside it may.
  const places = version === 1 ? [own.path] : [own.path, dirname(own.path)];
  let reason: unknown;
  for (const place of places) {
    const path = join(place, name);
    try {
      await mkdir(path);
    } catch (error) {
      reason = error;
      continue;
    }
    try {
      await setLimit(controller, version, path, limit);
      return { version, path };
    } catch (error) {
      reason = error;
      await rmdir(path).catch(() => {});
    }
  }
  throw refused(controller, reason);
}

async function setLimit(
  controller: Controller,
  version: 1 | 2,
  path: string,
  limit: number,
): Promise<void> {
  await writeFile(join(path, FILES[controller][version]), String(limit), { flag: 'r+' });
  if (controller !== 'memory') return;
  // Else what is over the limit is only written to the swap; where there is none there is no file.
  const swap = version === 1 ? ['memory.memsw.limit_in_bytes', limit] : ['memory.swap.max', 0];
  await writeFile(join(path, String(swap[0])), String(swap[1]), { flag: 'r+' }).catch(() => {});
  // One process without the others would be half of a command.
  if (version === 2) await writeFile(join(path, 'memory.oom.group'), '1', { flag: 'r+' });
}

const NAMES = { memory: 'memoryBytes', pids: 'processes' } as const;

function refused(controller: Controller, reason: unknown): LaunchError {
  const subject = `limits.${NAMES[controller]}`;
  const message =
    `${subject} needs a control group that is delegated to this user (systemd: ` +
    `\`Delegate=yes\`): ${messageOf(reason)}`;
  const errno = hasCode(reason, 'EBUSY') ? ERRNO.EBUSY : ERRNO.EACCES;
  return new LaunchError({ step: 'limits', errno, subject, message });
}

/** Who has just been reaped may still be in it. */
const WAITS_MS = [0, 1, 5, 20, 100, 500] as const;

async function remove(paths: readonly string[]): Promise<void> {
  for (const wait of WAITS_MS) {
    if (wait > 0) await pause(wait);
    const left = await Promise.all(paths.map((path) => rmdir(path).then(gone, isThere)));
    if (!left.includes(true)) return;
  }
}

const gone = () => false;
const isThere = (error: unknown): boolean => hasCode(error, 'EBUSY');
