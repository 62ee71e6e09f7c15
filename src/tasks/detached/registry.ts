import { readdir } from 'node:fs/promises';
import { inBatches } from '../../support/batches.js';
import { portRecords } from '../../support/directories/port-records.js';
import { InputError, showValue } from '../../support/errors.js';
import { portsOfProcesses } from '../lookout/ports.js';
import type { SubjectState } from '../subject.js';
import type { KeeperConnection } from './keeper/connection.js';
import type { KeeperState } from './keeper/keeper-state.js';
import { type DetachedOrder, lookAtOrder } from './place/order.js';
import { findPlace, findPlaces, type TaskPlace } from './place/place.js';
import { findStanding, stateOf } from './standing.js';

/** The record of a detached command. Times in milliseconds, points in time since 1970. */
export interface DetachedRecord extends Omit<DetachedOrder, 'askedAt'> {
  /** The id for `attach()`. */
  readonly id: string;
  /** Process id, also of its process group and session; 0: not known. */
  readonly pid: number;
  /** When the command began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The file that has its output. */
  readonly outputFile: string;
  /** The command's current state. */
  readonly state: SubjectState;
}

/** The record of a detached command in the list of all. */
interface ListedRecord extends DetachedRecord {
  /** The ports on which it listens now, and the ways to them. */
  readonly ports: readonly TaskPort[];
}

/** A port on which a task listens in its sandbox, which publishes it. */
export interface TaskPort {
  /** The number of the port inside. */
  readonly inside: number;
  /** The way to it from this machine: `http://127.0.0.1:3000`, whatever is spoken there. */
  readonly url: string;
}

/** Combines a command's options and its known state. */
export function recordOf(
  place: TaskPlace,
  { askedAt, ...order }: DetachedOrder,
  known: KeeperState | undefined,
  state: SubjectState,
): DetachedRecord {
  const pid = known?.leader.pid ?? 0;
  const startedAt = known?.startedAt ?? askedAt;
  return { id: place.id, ...order, pid, startedAt, outputFile: place.output, state };
}

/** A command without a record after this time was never started. */
const STARTING_MS = 10_000;

/**
 * Lists all detached commands of the user that still have a place, by their start.
 *
 * @throws The user's directory is open to others, or not the user's.
 */
export async function listDetached(): Promise<ListedRecord[]> {
  const found = await inBatches(await findPlaces(), lookAt);
  const records = found.filter((record) => record !== undefined);
  return records.sort((one, other) => one.startedAt - other.startedAt);
}

async function lookAt(place: TaskPlace): Promise<ListedRecord | undefined> {
  const order = await lookAtOrder(place.directory);
  if (order === undefined) return undefined;
  const standing = await findStanding(place);
  const ports = standing.kind === 'kept' ? await publishedBy(standing.connection) : [];
  if (standing.kind === 'kept') standing.connection.close();
  const { state } = standing;
  if (state === undefined && Date.now() - order.askedAt < STARTING_MS) return undefined;
  return { ...recordOf(place, order, state, await stateOf(standing, place, order)), ports };
}

/** Returns the published ports of a command, as far as its keeper and the system tell. */
async function publishedBy(connection: KeeperConnection): Promise<readonly TaskPort[]> {
  // Nothing is asked where no sandbox publishes.
  if ((await readdir(portRecords()).catch(() => [])).length === 0) return [];
  const answer = await connection.ask({ kind: 'who' }).catch(() => undefined);
  if (answer?.kind !== 'members') return [];
  const found = await portsOfProcesses(answer.members.map(({ pid }) => pid)).catch(() => []);
  const urls = new Map(found.flatMap(({ port, url }) => (url ? [[port, url] as const] : [])));
  return [...urls].map(([inside, url]) => ({ inside, url }));
}

/**
 * Finds the place of a detached command, and its stored options.
 *
 * @throws {InputError} There is no task with this id.
 */
export async function findDetached(
  id: string,
): Promise<{ place: TaskPlace; order: DetachedOrder }> {
  const place = typeof id === 'string' ? await findPlace(id) : undefined;
  if (place !== undefined) {
    const order = await lookAtOrder(place.directory);
    if (order !== undefined) return { place, order };
  }
  throw new InputError(`id: expected the id of a detached task, got ${showValue(id)}`);
}
