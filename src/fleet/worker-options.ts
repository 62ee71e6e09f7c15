import { hostname } from 'node:os';
import {
  limitsOf,
  profilesOf,
  Restriction,
  SERVE_OPTION_NAMES,
  type ServeOptions,
} from '../remote/for-fleet.js';
import { isAbortSignal } from '../support/abort.js';
import {
  atLeast,
  checkMethod,
  checkObject,
  checkString,
  isMissing,
  type OptionNames,
  wholeFrom,
} from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import type { Logger } from '../support/logger.js';
import { MOST_LABELS } from './label-keys.js';
import { BROKER_OPTION_NAMES, type BrokerOptions } from './line/broker-options.js';

/** Options of a worker. Times in milliseconds. */
export interface WorkerOptions extends BrokerOptions, ServeOptions {
  /** The pool whose clients it serves; they trust each other. Default: `default`. */
  readonly pool?: string | undefined;
  /** The worker's name. Default: the machine's name. */
  readonly name?: string | undefined;
  /** Labels that clients may ask for, at most 6: `{ gpu: 'a100' }`. Default: none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The number of calls under way at most, of all clients together. Default: 64. */
  readonly capacity?: number | undefined;
  /**
   * The time for what a worker has when it is told to drain, in milliseconds. Default: 60,000.
   */
  readonly drainMs?: number | undefined;
  /** Ends the wait for a broker that is not there yet. Default: the wait has no end. */
  readonly signal?: AbortSignal | undefined;
  /** Told of a broker that is not there, or forbids something later. Default: process warnings. */
  readonly logger?: Logger | undefined;
}

/** The names of those options. */
export const WORKER_OPTION_NAMES: OptionNames<WorkerOptions> = {
  ...BROKER_OPTION_NAMES,
  ...SERVE_OPTION_NAMES,
  pool: true,
  name: true,
  labels: true,
  capacity: true,
  drainMs: true,
  signal: true,
  logger: true,
};
const CAPACITY = 64;
const DRAIN_MS = 60_000;
/** The shortest and the longest lease that a client can ask for, in milliseconds. */
export const LEASE_RANGE = [1000, 120_000] as const;

/** What a worker is told at its start. */
export interface WorkerSettings {
  readonly limits: ReturnType<typeof limitsOf>;
  readonly profiles: ReturnType<typeof profilesOf>;
  readonly restriction: Restriction;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: number;
  readonly drainMs: number;
  readonly name: string;
}

/**
 * Checks a worker's options, and returns them with their defaults.
 *
 * @throws {InputError} An option is not valid.
 */
export function workerSettings(options: WorkerOptions): WorkerSettings {
  const { signal, logger } = options;
  checkMethod('logger', 'warn', logger);
  if (!isMissing(signal) && !isAbortSignal(signal)) {
    throw new InputError(`signal: expected an AbortSignal, got ${showValue(signal)}`);
  }
  return {
    limits: limitsOf(options),
    profiles: profilesOf(options),
    restriction: new Restriction(options.always),
    labels: checkLabels(options.labels),
    capacity: wholeFrom('capacity', 1, options.capacity ?? CAPACITY),
    drainMs: atLeast('drainMs', 0, options.drainMs ?? DRAIN_MS),
    name: nameOf(options.name),
  };
}

/**
 * Checks labels.
 *
 * @throws {InputError} The labels are not an object of texts.
 */
export function checkLabels(labels: unknown): Readonly<Record<string, string>> {
  if (isMissing(labels)) return {};
  checkObject('labels', labels);
  for (const [name, value] of Object.entries(labels)) {
    if (typeof value === 'string') continue;
    throw new InputError(`labels.${name}: expected a string, got ${showValue(value)}`);
  }
  const count = Object.keys(labels).length;
  if (count > MOST_LABELS) {
    throw new InputError(`labels: expected at most ${MOST_LABELS}, got ${count}`);
  }
  return labels as Readonly<Record<string, string>>;
}

function nameOf(name: unknown): string {
  checkString('name', name);
  return isMissing(name) ? hostname() : String(name);
}
