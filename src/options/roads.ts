import type { OptionNames } from '../support/checks.js';
import type { CommandOptions } from './command-options.js';
import { OPTIONS, type OptionName } from './table.js';

/**
 * The treatment of an option on a road, which is a way to start a command. `carried`: the option has its
 * effect. `refused`: the option is an error that names it. `n/a`: the option belongs to a neighbouring road
 * of the same caller, and docs say why it has no meaning on this one.
 */
export type Treatment = 'carried' | 'refused' | 'n/a';

/** The roads: all ways to start a command, each with the index of its column below. */
export const ROADS = {
  /** `run()` with the native engine. */
  run: 0,
  /** `spawn()`. */
  spawn: 1,
  /** `TaskManager.start()`. */
  task: 2,
  /** `detach()`. */
  detach: 3,
  /** `runInConsole()`. */
  console: 4,
  /** A call of a tool, of every contract. */
  tool: 5,
  /** A call of `session` with `persistent`. */
  persistent: 6,
  /** A task of `session` with `taskLifetime: 'detached'`. */
  detachedTask: 7,
  /** A call of `modes` with the mode `background`. */
  modesBackground: 8,
  /** `run()` with the portable engine. */
  portable: 9,
  /** `run()` of `connect()`, on Node's far side. */
  remote: 10,
  /** `run()` of a fleet, on a worker. */
  fleet: 11,
  /** `run()` of `connect()`, on the far side without Node. */
  staticFar: 12,
  /** `forkline run`, by its flags. */
  commandLine: 13,
  /** The local machine as a framework's sandbox. */
  localMachine: 14,
} as const;

/** The name of a way to start a command. */
export type RoadName = keyof typeof ROADS;

const C = 'carried';
const X = 'refused';
const o = 'n/a';

/**
 * The treatment of each option on every road. An option without a row, or a row without a road, does not
 * compile; `test/options/roads.test.ts` checks the effect of each `carried` and the error of each `refused`.
 */
export const TREATMENTS = {
  //     run spawn task detach console tool persistent detachedTask modesBackground portable remote fleet staticFar commandLine localMachine
  cwd: [C, C, C, C, C, C, C, C, C, C, C, C, C, C, o],
  timeoutMs: [C, C, C, C, C, o, o, o, o, C, C, C, C, C, C],
  graceMs: [C, C, C, C, C, C, C, C, C, C, C, C, C, X, C],
  signal: [C, C, C, X, C, o, o, o, o, C, C, C, C, o, o],
  streams: [C, C, C, X, X, o, o, o, o, C, C, C, C, X, X],
  headBytes: [C, C, C, X, C, o, o, o, o, C, C, C, C, o, C],
  tailBytes: [C, C, C, X, C, o, o, o, o, C, C, C, C, o, C],
  spill: [C, C, C, X, C, X, X, X, X, C, C, C, C, C, X],
  encoding: [C, C, C, X, X, C, C, X, C, C, C, C, X, X, X],
  input: [C, C, X, X, X, X, X, X, X, C, C, C, C, o, o],
  pty: [C, C, C, C, X, o, o, o, o, C, C, C, C, C, X],
  onOutput: [C, X, X, X, X, o, o, o, o, C, C, C, C, X, X],
  owner: [C, C, C, X, C, X, X, X, X, C, X, X, X, X, X],
  shell: [C, C, C, C, C, C, C, C, C, C, C, C, C, X, C],
  followDirectory: [C, C, X, X, C, X, X, X, X, C, C, C, C, X, X],
  priority: [C, C, C, C, C, C, C, C, C, C, C, C, C, X, C],
  startsAtOnce: [C, C, C, C, C, C, o, C, C, X, C, C, C, X, C],
  umask: [C, C, C, C, C, C, C, C, C, C, C, C, C, C, C],
  sandbox: [C, C, C, C, C, C, C, C, C, X, C, C, X, C, C],
  undo: [C, C, C, C, C, C, C, C, C, X, C, C, X, C, C],
  onDenied: [C, X, X, X, X, C, X, o, o, o, X, X, X, X, X],
  onExec: [C, C, C, C, C, C, C, C, C, o, C, C, o, X, X],
  limits: [C, C, C, X, C, C, C, X, X, X, C, C, C, X, X],
  env: [C, C, C, C, C, C, C, C, C, C, C, C, C, C, C],
  inheritEnv: [C, C, C, C, C, C, C, C, C, C, C, C, C, X, C],
} as const satisfies Readonly<
  Record<OptionName, Readonly<Record<(typeof ROADS)[RoadName], Treatment>> & { length: 15 }>
>;

/** The options that have their effect on a road. */
export type CarriedBy<Road extends RoadName> = {
  [Name in OptionName]: (typeof TREATMENTS)[Name][(typeof ROADS)[Road]] extends 'carried'
    ? Name
    : never;
}[OptionName];

/** The options of a road, with the types that `run()` gives them. */
export type OptionsOf<Road extends RoadName> = Pick<CommandOptions, CarriedBy<Road>>;

/** Returns the names of the options of a road, for `readOptions()`. */
export function namesOf<Road extends RoadName>(road: Road): OptionNames<OptionsOf<Road>> {
  const names = Object.keys(OPTIONS) as readonly OptionName[];
  const carried = names.filter((name) => TREATMENTS[name][ROADS[road]] === 'carried');
  return Object.fromEntries(carried.map((name) => [name, true])) as OptionNames<OptionsOf<Road>>;
}

/** Options of other libraries that callers of `run()` may try, each with a hint at the right one. */
export const MISTAKES = {
  timeout: 'the time limit is timeoutMs, in milliseconds',
  maxBuffer: 'output of any length is fine: headBytes and tailBytes say how much of it is kept',
  killSignal: 'commands are ended by SIGTERM, and after graceMs by SIGKILL',
  notify: 'a command whose watches are told is started by TaskManager.start() or detach()',
} as const;
