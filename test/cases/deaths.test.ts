import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Owner, type RunResult, run, spawn } from '../../src/index.js';
import { longSleep } from '../support/commands.js';
import { startHost } from '../support/hosts.js';
import { descriptorsAtRest, leavesNothingBehind, useOwners } from '../support/leftovers.js';
import {
  childrenOf,
  eventually,
  isGone,
  keeperOf,
  openDescriptors,
  parentOf,
  processesOf,
} from '../support/processes.js';
import { exited } from '../support/results.js';

// Keeper, cradle, both, and the host are killed and stopped at every point of a command's life. Whatever
// happens, what is told is true and nothing is left. FORKLINE_DEATHS: how often.
leavesNothingBehind();
const newOwner = useOwners();
const ROUNDS = Number(process.env.FORKLINE_DEATHS ?? 1);

/** A command on its way. */
interface Underway {
  readonly result: Promise<RunResult>;
  /** Its leader, once it is known. */
  readonly pid?: number;
}

const SHORT = `setsid ${longSleep(1)} >/dev/null 2>&1 & ${longSleep(0)}; exit 7`;
const PRINTING = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo $i; sleep 0.02; done';
const STUBBORN = `trap '' TERM; echo up; while :; do sleep 0.05; done`;

/** Starts a command, and comes back at one point of its life. */
const points: Record<string, (owner: Owner) => Underway | Promise<Underway>> = {
  'before it is asked for': (owner) => ({ result: run(SHORT, { owner }) }),
  'once it is asked for': async (owner) => {
    const result = run(SHORT, { owner });
    result.catch(() => {});
    await sleep(Math.random() * 4);
    return { result };
  },
  'once it has started': async (owner) => {
    const live = await spawn(SHORT, { owner });
    return { result: live.result, pid: live.pid };
  },
  'while it prints': async (owner) => {
    const live = await spawn(`${PRINTING}; exit 7`, { owner });
    for await (const _ of live) break;
    return { result: live.result, pid: live.pid };
  },
  'once it has ended, while others print': async (owner) => {
    const live = await spawn(`(${PRINTING}) & exit 7`, { owner });
    await eventually(() => expect(isGone(live.pid)).toBe(true));
    return { result: live.result, pid: live.pid };
  },
  'while it is being ended': async (owner) => {
    const live = await spawn(STUBBORN, { owner });
    for await (const _ of live) break;
    const { pid } = live;
    const result = live.kill({ graceMs: 300 });
    await sleep(20);
    return { result, pid };
  },
};
const ends = (point: string) => point === 'while it is being ended';

/** Where most can go wrong. */
const CORE = new Set(['once it is asked for', 'while it prints', 'while it is being ended']);

type Whose = 'keeper' | 'cradle' | 'both';

/** Signals them: of cradles all, unless it is known which. */
function strike(whose: Whose, signal: 'SIGKILL' | 'SIGSTOP', cradle: number): void {
  const keeper = keeperOf();
  const cradles = cradle > 0 ? [cradle] : childrenOf(keeper);
  const all = { keeper: [keeper], cradle: cradles, both: [...cradles, keeper] }[whose];
  // So that it can't see to the others first.
  if (whose === 'both') process.kill(keeper, 'SIGSTOP');
  for (const pid of all) process.kill(pid, signal);
}

/** What is told; undefined: that it could not be run. */
async function told(result: Promise<RunResult>): Promise<RunResult | undefined> {
  try {
    return await result;
  } catch (error) {
    expect(error).toMatchObject({ name: 'LaunchError', code: 'ECONNRESET', step: 'keeper' });
    return undefined;
  }
}

async function die(whose: Whose, signal: 'SIGKILL' | 'SIGSTOP', point: string): Promise<void> {
  const owner = newOwner();
  const start = points[point];
  await eventually(async () => {
    // Whoever was made by a keeper that has died may run it; then the next one starts another.
    await run('true');
    expect(keeperOf()).toBeGreaterThan(0);
  });
  const before = await descriptorsAtRest();
  const underway = await start?.(owner);
  if (!underway) throw new Error(point);
  const cradle = underway.pid ? cradleOf(underway.pid) : 0;
  strike(whose, signal, cradle);
  const result = await told(underway.result);
  const living = processesOf();
  if (result) {
    expect(result.outcome).not.toEqual(exited(0));
    if (result.outcome.kind === 'exited') expect(result.outcome).toEqual(exited(7));
    if (result.background.length === 0) expect(living).toEqual([]);
    const goesOn = signal === 'SIGSTOP' || whose === 'keeper';
    if (goesOn && !ends(point)) expect(result.outcome).toEqual(exited(7));
    if (!goesOn && underway.pid && !point.includes('has ended')) {
      expect(result.outcome.kind).toBe(ends(point) ? 'cancelled' : 'unknown');
    }
  } else {
    expect([underway.pid, signal]).toEqual([undefined, 'SIGKILL']);
  }
  expect((await run('exit 7')).outcome).toEqual(exited(7));
  await owner.dispose();
  if (whose === 'both' && signal === 'SIGKILL') endWhatNobodyCan();
  await eventually(() => expect(processesOf()).toEqual([]));
  await eventually(() => expect(openDescriptors().length).toBeLessThanOrEqual(before));
}

/** The cradle of a leader, which may have ended: then it is the one that has children. */
function cradleOf(leader: number): number {
  const parent = parentOf(leader);
  if (parent > 0) return parent;
  return childrenOf(keeperOf()).find((pid) => childrenOf(pid).length > 0) ?? 0;
}

/** What both have left when both were killed; the result has named its command. */
function endWhatNobodyCan(): void {
  for (const entry of processesOf()) {
    try {
      process.kill(Number.parseInt(entry, 10), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

describe.each(['keeper', 'cradle', 'both'] as const)('%s', (whose) => {
  describe.each(['SIGKILL', 'SIGSTOP'] as const)('%s', (signal) => {
    // Of each who and each signal something is in `npm test`.
    const names = Object.keys(points);
    const isCore = (point: string) => CORE.has(point);
    const dies = async (point: string) => {
      for (let round = 0; round < ROUNDS; round += 1) await die(whose, signal, point);
    };
    test.each(names.filter(isCore))('%s', { timeout: 60_000 * ROUNDS }, dies);
    test.each(names.filter((point) => !isCore(point)))(
      '%s',
      { timeout: 60_000 * ROUNDS, tags: ['slow'] },
      dies,
    );
  });
});

/** What a host is asked for, and when it is struck: once a child of it is seen, so much later. */
const hostPoints: Record<string, { command: string; options?: object; afterMs?: number }> = {
  'once it has asked': { command: SHORT },
  'once it has started': { command: SHORT, afterMs: 20 },
  'while it prints': { command: `${PRINTING}; exit 7`, afterMs: 100 },
  'once it has ended, while others print': { command: `(${PRINTING}) & exit 7`, afterMs: 100 },
  'while it is being ended': {
    command: STUBBORN,
    options: { timeoutMs: 100, graceMs: 500 },
    afterMs: 300,
  },
};

async function strikeHost(signal: 'SIGKILL' | 'SIGSTOP', point: string): Promise<void> {
  const { command = '', options, afterMs } = hostPoints[point] ?? {};
  const host = startHost('commands');
  await host.run('true');
  const pid = Number(host.child.pid);
  const asked = host.run(command, options);
  asked.catch(() => {});
  if (afterMs) {
    await eventually(() => expect(processesOf(pid)).not.toEqual([]));
    await sleep(afterMs);
  }
  const keeper = keeperOf(pid);
  const ours = [keeper, ...childrenOf(keeper)];
  process.kill(pid, signal);
  if (signal === 'SIGSTOP') {
    await sleep(300);
    process.kill(pid, 'SIGCONT');
    const { result } = await asked;
    const expected = ends(point) ? { kind: 'timedOut', forced: true } : exited(7);
    expect(result?.outcome).toMatchObject(expected);
    if (result?.background.length === 0) expect(processesOf(pid)).toEqual([]);
    host.child.stdin?.end();
  }
  await host.ended;
  await eventually(() => expect(processesOf(pid)).toEqual([]));
  await eventually(() => expect(ours.filter((each) => !isGone(each))).toEqual([]));
}

describe('the host', () => {
  describe.each(['SIGKILL', 'SIGSTOP'] as const)('%s', (signal) => {
    test.each(Object.keys(hostPoints))(
      '%s',
      async (point) => {
        for (let round = 0; round < ROUNDS; round += 1) await strikeHost(signal, point);
      },
      60_000 * ROUNDS,
    );
  });
});
