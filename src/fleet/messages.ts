/** Messages between workers and clients, as JSON; those on their lines are frames. */

/** The description of a worker. */
export interface WorkerInfo {
  /** 128 random bits, new for each run of the worker. */
  readonly id: string;
  /** The name that its owner gives it; by default the machine's name. */
  readonly name: string;
  /** Labels that clients may ask for. */
  readonly labels: Readonly<Record<string, string>>;
  /** The number of calls under way. */
  readonly running: number;
  /** The number of tools. */
  readonly sessions: number;
  /** The share of its capacity that is in use: 0, none, to 1, all. */
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
