import { nearBytes } from '../remote/for-fleet.js';
import {
  atLeast,
  checkFunction,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../support/checks.js';
import { BROKER_OPTION_NAMES, type BrokerOptions } from './line/broker-options.js';
import { inboxWord, type Subjects, subjectsOf } from './subjects.js';
import type { WaitingPlace } from './waiting.js';
import { LEASE_RANGE } from './worker-options.js';

/** Options of a fleet. Times in milliseconds. */
export interface FleetOptions extends BrokerOptions {
  /** The pool whose workers are used. Default: `default`. */
  readonly pool?: string | undefined;
  /**
   * The word in the subjects on which this client hears answers, `forkline.POOL.inbox.WORD`: the broker's
   * permissions can keep them from other users. Default: `user`, if it is letters, digits, `-` and `_`,
   * else `shared`.
   */
  readonly inbox?: string | undefined;
  /**
   * The time after which a silent worker, or a silent client, is taken for lost: what runs there ends.
   * A quarter of it if the broker reports that the other side is gone. 1,000 to 120,000. Default:
   * 20,000.
   */
  readonly leaseMs?: number | undefined;
  /**
   * How long a call may wait while all workers are busy, in milliseconds; 0: not at all. Default: 60,000.
   */
  readonly waitMs?: number | undefined;
  /** The number of calls that may wait, with the same labels; more are a `BusyError`. Default: 10,000. */
  readonly maxWaiting?: number | undefined;
  /** Bytes of the largest message that is taken: a result with its output. Default: 268,435,456 (256 MiB). */
  readonly maxBytes?: number | undefined;
  /**
   * Called with the id of a worker that takes no new work: tools there should be given up soon.
   * Default: none.
   */
  readonly onDrain?: ((worker: string) => void) | undefined;
}

/** Options that choose workers by labels, and say how long a call waits for one that has room. */
export interface Labelled {
  /** Names and values of labels: only workers that have all of them are asked. Default: none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * How long the call may wait while all workers are busy, in milliseconds; 0: not at all. A command's
   * `timeoutMs` is counted from its start. Default: the fleet's `waitMs`.
   */
  readonly waitMs?: number | undefined;
  /** Told of the call's place among those of this client that wait, and of each change. Default: none. */
  readonly onWaiting?: ((waiting: WaitingPlace) => void) | undefined;
}

/** The worker where something runs. */
export interface OnWorker {
  /** The id of the worker; empty if the command was cancelled while it waited for one. */
  readonly worker: string;
}

const NAMES: OptionNames<FleetOptions> = {
  ...BROKER_OPTION_NAMES,
  pool: true,
  inbox: true,
  leaseMs: true,
  waitMs: true,
  maxWaiting: true,
  maxBytes: true,
  onDrain: true,
};
const LEASE_MS = 20_000;
const WAIT_MS = 60_000;
const MOST_WAITING = 10_000;

/** A fleet's options, checked, with their defaults. */
interface FleetSettings {
  readonly broker: BrokerOptions;
  readonly subjects: Subjects;
  /** The word of this client in the subjects of answers. */
  readonly word: string;
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly maxWaiting: number;
  readonly maxBytes: number;
  readonly onDrain: ((worker: string) => void) | undefined;
}

/**
 * Checks a fleet's options.
 *
 * @throws {InputError} An option is not valid.
 */
export function fleetOptions(given: FleetOptions): FleetSettings {
  const options = readOptions('options', given, NAMES);
  const [least, most] = LEASE_RANGE;
  checkFunction('onDrain', options.onDrain);
  return {
    broker: options,
    subjects: subjectsOf(options.pool ?? 'default'),
    word: inboxWord(options.inbox, options.user),
    leaseMs: wholeFrom('leaseMs', least, options.leaseMs ?? LEASE_MS, most),
    waitMs: atLeast('waitMs', 0, options.waitMs ?? WAIT_MS),
    maxWaiting: wholeFrom('maxWaiting', 1, options.maxWaiting ?? MOST_WAITING),
    maxBytes: nearBytes(options.maxBytes),
    onDrain: options.onDrain ?? undefined,
  };
}
