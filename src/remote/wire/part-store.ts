/** Bytes of one part, and the fewest that are sent as one: the line itself carries less. */
export const PART_BYTES = 2 * 1024 * 1024;
export const LEAST_PART_BYTES = 1024 * 1024;

/** A part of an input or an output that waits in a store: its name is the SHA-256 of its bytes, in hexadecimal. */
export interface StoredPart {
  readonly name: string;
  readonly bytes: number;
}

/** A store that both sides of a line reach: what is large goes over it. It may fail at any time; then the line is used. */
export interface PartStore {
  /** Puts a part there, unless it is there already. Returns `undefined` if that can't be done. */
  put(bytes: Uint8Array): Promise<StoredPart | undefined>;
  /** Returns the bytes of a part; `undefined`: they are not there, or others are. */
  take(part: StoredPart): Promise<Uint8Array | undefined>;
  /** Removes parts, by their names; what can't be removed now goes after some time. */
  remove(names: Iterable<string>): Promise<void>;
  /** Settles when all is removed that was to be. */
  settled(): Promise<void>;
}
