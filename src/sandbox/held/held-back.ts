import type { Held } from '../../engine/sandbox-report.js';
import { countAccepted } from '../pins/present.js';
import { diffOf } from './diff.js';
import { put } from './put.js';
import type { HeldRecord } from './record.js';
import { heldRecord, partOf, removeRecord } from './store.js';

/** Longer settings are never put by commands. */
const MOST_JUDGED_BYTES = 1024 * 1024;

/**
 * A held change in the user's state directory. Its methods are the class's, so that a copy of the result as
 * plain data has the facts alone.
 */
export class HeldBack implements Held {
  readonly id: string;
  readonly path: string;
  readonly reason: Held['reason'];
  /** Declared alone, so that without keys there is no such field. */
  declare readonly keys?: readonly string[];
  readonly at: number;
  readonly diff: string;
  readonly #directory: string;

  private constructor(directory: string, record: HeldRecord, diff: string) {
    this.id = record.id;
    this.path = record.path;
    this.reason = record.reason;
    if (record.keys !== undefined) this.keys = record.keys;
    this.at = record.at;
    this.diff = diff;
    this.#directory = directory;
  }

  /** @throws The system's error. */
  static async of(directory: string, record: HeldRecord): Promise<HeldBack> {
    return new HeldBack(directory, record, await diffOf(directory, record));
  }

  async accept(): Promise<'put' | 'conflict'> {
    const record = await heldRecord(this.#directory, this.id);
    if (record === undefined) {
      throw new Error(
        `${this.path}: the change is no longer held: it was accepted, dropped or displaced`,
      );
    }
    const content = await partOf(this.#directory, this.id, 'content', MOST_JUDGED_BYTES);
    const done = await put(this.#directory, record);
    if (done === 'put') {
      if (content !== undefined && record.what !== 'removal') countAccepted(record, content);
      await this.drop();
    }
    return done;
  }

  drop(): Promise<void> {
    return removeRecord(this.#directory, this.id);
  }
}
