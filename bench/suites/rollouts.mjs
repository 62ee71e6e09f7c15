// P18: many agents in one process: a mix of real commands over a small repository, and a server that
// answers meanwhile.
/** @import { Suite } from '../lib/types.d.ts' */
/** @import { Found, Setting } from '../lib/rollouts/host.mjs' */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
// Its host has the floor on a thread.
import '../lib/floor.mjs';
import { hasPackage, hasProgram } from '../lib/left-out.mjs';
import { availableBytes } from '../lib/proc.mjs';
import { makeRepository, references } from '../lib/rollouts/repository.mjs';
import { atLeast, atMost, figureRow, milliseconds, ratioRow, times } from '../lib/rows.mjs';
import { median } from '../lib/statistics.mjs';

const GIB = 2 ** 30;
const AGENTS = 64;
const HOST = fileURLToPath(new URL('../lib/rollouts/host.mjs', import.meta.url));
const BUN = fileURLToPath(new URL('../../node_modules/.bin/bun', import.meta.url));
const execute = promisify(execFile);

const HAS_EXECA = hasPackage('execa');
// Its package has a program only once its own installation has fetched one.
const HAS_BUN = hasProgram('Bun', [BUN, '--version'], '`npm ci`');

/** @param {{ name: string }} program */
const isThere = ({ name }) => (name !== 'execa' || HAS_EXECA) && (name !== 'Bun' || HAS_BUN);

/** The compared programs. `slow`: each agent gets only one command, since it takes so long. */
const BURSTS = [
  { name: 'floor', program: 'floor' },
  { name: 'forkline', program: 'forkline' },
  { name: 'forkline, low', program: 'forkline, low' },
  { name: 'child_process', program: 'child_process', slow: true },
  { name: 'execa', program: 'execa', slow: true },
  { name: 'Bun', program: 'Bun' },
].filter(isThere);
// 'nothing' runs no command: the cost of the machine and the server by themselves.
const OTHERS_PACED = ['forkline, low', 'nothing', 'child_process', ...(HAS_BUN ? ['Bun'] : [])];
const OTHERS = ['child_process', 'execa', 'Bun'].filter((name) => isThere({ name }));

/**
 * @param {Setting} setting
 * @returns {Promise<Found>}
 */
async function inHost(setting) {
  // Bun's API exists only in Bun, which is then the host.
  const host = setting.program === 'Bun' ? BUN : process.execPath;
  const { stdout } = await execute(host, [HOST, JSON.stringify(setting)], {
    maxBuffer: GIB,
  });
  return JSON.parse(stdout);
}

/**
 * @param {readonly Found[]} all
 * @param {keyof Found} figure
 */
const middle = (all, figure) => median(all.map((found) => found[figure]));

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const bytes = availableBytes() > 4 * GIB ? GIB : GIB / 4;
    const directory = mkdtempSync(join(tmpdir(), 'forkline-rollouts-'));
    try {
      makeRepository(directory);
      const given = { agents: AGENTS, bytes, directory, references: references(directory) };
      const count = quick ? 128 : 384;
      /** @type {Map<string, Found[]>} */
      const found = new Map();
      /** @param {string} name @param {Setting} setting */
      const add = async (name, setting) =>
        found.set(name, [...(found.get(name) ?? []), await inHost(setting)]);
      for (let round = 0; round < (quick ? 1 : 2); round++) {
        for (const { name, program, slow } of BURSTS) {
          if (slow && round > 0) continue;
          const some = slow ? AGENTS : count;
          await add(name, { ...given, program, arrivals: 'burst', count: some });
        }
      }
      for (const program of ['forkline', ...OTHERS_PACED]) {
        await add(`${program}, paced`, { ...given, program, arrivals: 'paced', count: count / 8 });
      }
      return summary(found, bytes);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

/**
 * @param {ReadonlyMap<string, readonly Found[]>} found
 * @param {number} bytes
 */
function summary(found, bytes) {
  /** @param {string} name @param {keyof Found} figure */
  const of = (name, figure) => middle(found.get(name) ?? [], figure);
  /** @param {readonly string[]} names @param {keyof Found} figure */
  const others = (names, figure) =>
    Object.fromEntries(names.map((name) => [name, milliseconds(of(name, figure))]));
  const paced = OTHERS_PACED.map((name) => `${name}, paced`);
  const held = `${(bytes / GIB).toFixed(bytes < GIB ? 2 : 0)} GiB touched`;
  const speed = `${of('forkline', 'perSecond').toFixed(0)}/s`;
  /** @param {string} name */
  const toFloor = (name) => of(name, 'perSecond') / of('floor', 'perSecond');
  const rows = [
    ratioRow({
      id: 'P18',
      what: `rollouts, ${AGENTS} agents, ${held}: commands`,
      figure: speed,
      to: `floor's host ${of('floor', 'perSecond').toFixed(0)}/s`,
      value: toFloor('forkline'),
      target: atLeast(0.95),
      others: Object.fromEntries(
        ['forkline, low', ...OTHERS].map((name) => [name, times(toFloor(name))]),
      ),
    }),
    ratioRow({
      id: 'P18',
      what: 'the same',
      figure: speed,
      to: `child_process ${of('child_process', 'perSecond').toFixed(0)}/s`,
      value: of('forkline', 'perSecond') / of('child_process', 'perSecond'),
      target: atLeast(10),
    }),
    delayRow('burst: event loop delay', of('forkline', 'loopP99'), 5, {
      "to the floor's host": times(of('forkline', 'loopP99') / of('floor', 'loopP99')),
      ...others(['floor', 'forkline, low', ...OTHERS], 'loopP99'),
    }),
    delayRow(
      'burst: answers of the server',
      of('forkline', 'httpP99'),
      20,
      others(['floor', 'forkline, low', ...OTHERS], 'httpP99'),
    ),
    delayRow(
      'paced: event loop delay',
      of('forkline, paced', 'loopP99'),
      1,
      others(paced, 'loopP99'),
    ),
    delayRow(
      'paced: answers of the server',
      of('forkline, paced', 'httpP99'),
      3,
      others(paced, 'httpP99'),
    ),
    wrongRow(found),
  ];
  /** @param {readonly Found[]} all */
  const speeds = (all) => all.map(({ perSecond }) => perSecond);
  return {
    rows,
    medians: Object.fromEntries([...found].map(([name, all]) => [name, speeds(all)])),
  };
}

/**
 * @param {string} what
 * @param {number} value in milliseconds, as is the limit
 * @param {number} limit
 * @param {Record<string, string>} others
 */
const delayRow = (what, value, limit, others) =>
  figureRow({
    id: 'P18',
    what: `${what}, p99`,
    figure: milliseconds(value),
    value,
    target: atMost(limit, `≤ ${limit} ms`),
    others,
  });

/** @param {ReadonlyMap<string, readonly Found[]>} found */
function wrongRow(found) {
  /** @param {(name: string) => boolean} isOf */
  const wrong = (isOf) =>
    [...found]
      .flatMap(([name, all]) => (isOf(name) ? all : []))
      .reduce((n, one) => n + one.wrong, 0);
  const own = wrong((name) => name.startsWith('forkline'));
  return figureRow({
    id: 'P18',
    what: 'wrong outputs, by their hash',
    figure: String(own),
    value: own,
    target: atMost(0, '0'),
    others: Object.fromEntries(
      OTHERS.map((name) => [name, String(wrong((one) => one.startsWith(name)))]),
    ),
  });
}
