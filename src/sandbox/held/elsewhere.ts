import type { EngineOutcome } from '../../engine/message.js';
import type { RunResult } from '../../engine/outcome.js';
import { type Held, type HeldFacts, NOTHING_HELD } from '../../engine/sandbox-report.js';
import { changesThere } from '../undo/elsewhere.js';

/** Bytes of all diffs that are sent to another machine with one result, at most. */
const MOST_SENT = 256 * 1024;
const NOT_SENT = '[the diffs are too long to be sent: forkline held shows it, on that machine]\n';

/** Returns what another machine is told of held changes; undefined: there are none. */
export function heldFacts(all: readonly Held[]): readonly HeldFacts[] | undefined {
  if (all.length === 0) return undefined;
  let left = MOST_SENT;
  return all.map(({ id, path, reason, keys, at, diff }) => {
    left -= Buffer.byteLength(diff);
    const shown = left < 0 ? NOT_SENT : diff;
    return { id, path, reason, at, diff: shown, ...(keys !== undefined && { keys }) };
  });
}

/** Adds to a result what the machine of the command has told of it. */
export function toldFromThere(
  result: RunResult,
  { heldBack = [], changes, ...told }: NonNullable<EngineOutcome['checked']>,
): RunResult {
  const held = heldBack.length === 0 ? NOTHING_HELD : heldBack.map((facts) => new HeldThere(facts));
  return {
    ...result,
    ...told,
    heldBack: held,
    ...(changes !== undefined && { changes: changesThere(changes) }),
  };
}

/** A change that is held on another machine, where alone it can be accepted. */
class HeldThere implements Held {
  readonly id: string;
  readonly path: string;
  readonly reason: Held['reason'];
  /** Declared alone, so that without keys there is no such field. */
  declare readonly keys?: readonly string[];
  readonly at: number;
  readonly diff: string;

  constructor({ id, path, reason, keys, at, diff }: HeldFacts) {
    this.id = id;
    this.path = path;
    this.reason = reason;
    if (keys !== undefined) this.keys = keys;
    this.at = at;
    this.diff = diff;
  }

  accept(): Promise<never> {
    return this.#refuse('accept');
  }

  drop(): Promise<never> {
    return this.#refuse('drop');
  }

  async #refuse(what: 'accept' | 'drop'): Promise<never> {
    throw new Error(
      `${this.path}: the change is held on the far side: run \`forkline held ${what} ${this.id}\` there`,
    );
  }
}
