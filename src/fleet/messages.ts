import { fieldsOf, mismatchOfFields, type ShapeFields } from '../remote/for-fleet.js';
import { isId, isSubject } from './subjects.js';

/** Messages between workers and clients, as JSON; those on their lines are frames. */

/** The description of a worker. */
export interface WorkerInfo {
  /** 128 random bits, new for each run of the worker. */
  readonly id: string;
  /** The name that its owner gives it; by default the machine's name. */
  readonly name: string;
  /** The version of its forkline. */
  readonly version: string;
  /** Labels that clients may ask for. */
  readonly labels: Readonly<Record<string, string>>;
  /** The number of calls under way. */
  readonly running: number;
  /** The number of calls under way at most. */
  readonly capacity: number;
  /** The number of clients that have a line to it. */
  readonly clients: number;
  /** The number of tools. */
  readonly sessions: number;
  /** The share of its capacity that is in use, as a number from 0, none, to 1, all. */
  readonly load: number;
  /** Whether it takes no new work, and ends when what it has is over. */
  readonly draining: boolean;
}

/** A client's search for a worker, with the offer of a line in case there is none yet. */
export interface PlaceRequest {
  /** The client's 128 random bits. */
  readonly client: string;
  /** The line's name, and the subject on which the client listens for it. */
  readonly line: string;
  readonly to: string;
  readonly leaseMs: number;
}

/** A worker's answer. */
export type Placed =
  | { readonly busy: true }
  /** The name of the line: the one that was offered, or the one that there is already. */
  | { readonly worker: string; readonly line: string };

/** A worker's notice on its lines: it is about to end, or has become crowded or no longer is. */
export type WorkerNotice = { readonly draining: true } | { readonly isCrowded: boolean };

const WORKER: ShapeFields = fieldsOf<WorkerInfo>({
  id: 'text',
  name: 'text',
  version: 'text',
  labels: 'object',
  running: 'count',
  capacity: 'count',
  clients: 'count',
  sessions: 'count',
  load: 'amount',
  draining: 'flag',
});

/** Reads the description of a worker; `undefined`: it is none. */
export function workerFrom(data: Uint8Array): WorkerInfo | undefined {
  const worker = fromJson(data) as WorkerInfo;
  return hasFields(WORKER, worker) && isId(worker.id) ? worker : undefined;
}

/** Reads a client's search; `undefined`: it is none. */
export function placeFrom(
  data: Uint8Array,
): (Omit<PlaceRequest, 'leaseMs'> & { readonly leaseMs?: unknown }) | undefined {
  const place = fromJson(data) as PlaceRequest;
  const isWhole = hasFields({ client: 'text', line: 'text', to: 'text' }, place);
  return isWhole && isId(place.client) && isId(place.line) && isSubject(place.to)
    ? place
    : undefined;
}

/** Reads a worker's answer; `undefined`: it is none. */
export function placedFrom(data: Uint8Array): Placed | undefined {
  const placed = fromJson(data) as Placed;
  if (hasFields({ busy: 'true' }, placed)) return placed;
  const isPlace = hasFields({ worker: 'text', line: 'text' }, placed) && 'worker' in placed;
  return isPlace && isId(placed.worker) && isId(placed.line) ? placed : undefined;
}

function hasFields(fields: ShapeFields, value: unknown): boolean {
  return mismatchOfFields({}, fields, value) === undefined;
}

export function toJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Parses a message; `undefined`: it is not JSON. */
export function fromJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data).toString());
  } catch {
    return undefined;
  }
}
