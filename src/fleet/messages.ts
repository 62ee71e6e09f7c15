/** What workers and clients say of each other, as JSON; their lines have frames. */

/** A worker, as it tells of itself. */
export interface WorkerInfo {
  /** 128 random bits of this run of it. */
  readonly id: string;
  /** What its owner calls it: by default the machine's name. */
  readonly name: string;
  /** What clients may ask for. */
  readonly labels: Readonly<Record<string, string>>;
  /** How many calls it has under way. */
  readonly running: number;
  /** How many tools it has. */
  readonly sessions: number;
  /** How many calls of those that it may have it has: 0, none, to 1, all. */
  readonly load: number;
  /** It takes nothing new, and ends when what it has is over. */
  readonly draining: boolean;
}

/** A client looks for a worker, and offers a line should it be a new one. */
export interface PlaceRequest {
  /** 128 random bits: whose line it is. */
  readonly client: string;
  /** The line's name, and where the client listens for it. */
  readonly line: string;
  readonly to: string;
  readonly leaseMs: number;
}

/** A worker's answer. */
export type Placed =
  | { readonly busy: true }
  /** The name of the line: the one that was offered, or that there is already. */
  | { readonly worker: string; readonly line: string };

/** What a worker says on its lines: that it is about to end, or has much to do, or has no longer. */
export type WorkerNotice = { readonly draining: true } | { readonly isCrowded: boolean };

export function toJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Undefined: it is none. */
export function fromJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data).toString());
  } catch {
    return undefined;
  }
}
