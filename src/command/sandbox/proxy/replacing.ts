import { Transform, type TransformCallback } from 'node:stream';

/** A text, and what is to stand in its place. */
export interface Replacement {
  readonly from: Buffer;
  readonly to: Buffer;
}

/**
 * Replaces texts in a stream of bytes, wherever it is divided. It keeps back no more than what may be the
 * beginning of one: what is sent piece by piece arrives so.
 */
export class Replacing extends Transform {
  readonly #replacements: readonly Replacement[];
  #rest: Buffer = Buffer.alloc(0);

  /** @param replacements Of two that begin at the same place, the first counts. */
  constructor(replacements: readonly Replacement[]) {
    super();
    this.#replacements = replacements;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#replace();
    const kept = this.#beginning();
    const ready = this.#rest.subarray(0, this.#rest.length - kept);
    this.#rest = Buffer.from(this.#rest.subarray(ready.length));
    if (ready.length > 0) this.push(ready);
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#rest.length > 0) this.push(this.#rest);
    done();
  }

  /** Sends on all to the end of the last one that is there. */
  #replace(): void {
    const nexts = this.#replacements.map(({ from }) => this.#rest.indexOf(from));
    let done = 0;
    for (;;) {
      let first: number | undefined;
      for (const [index, next] of nexts.entries()) {
        if (next >= 0 && (first === undefined || next < (nexts[first] ?? 0))) first = index;
      }
      const found = first === undefined ? undefined : this.#replacements[first];
      if (first === undefined || found === undefined) break;
      const at = nexts[first] ?? 0;
      this.push(this.#rest.subarray(done, at));
      this.push(found.to);
      done = at + found.from.length;
      for (const [index, { from }] of this.#replacements.entries()) {
        const next = nexts[index] ?? -1;
        if (next >= 0 && next < done) nexts[index] = this.#rest.indexOf(from, done);
      }
    }
    this.#rest = this.#rest.subarray(done);
  }

  /** How many bytes at the end may be the beginning of one. */
  #beginning(): number {
    const longest = Math.max(0, ...this.#replacements.map(({ from }) => from.length - 1));
    for (let length = Math.min(longest, this.#rest.length); length > 0; length -= 1) {
      const end = this.#rest.subarray(this.#rest.length - length);
      const isBegun = this.#replacements.some(
        ({ from }) => from.length > length && from.subarray(0, length).equals(end),
      );
      if (isBegun) return length;
    }
    return 0;
  }
}

/** The same in a text that is there as a whole. */
export function replaceAll(text: string, replacements: readonly Replacement[]): string {
  return replacements.reduce(
    (changed, { from, to }) =>
      changed.replaceAll(from.toString('latin1'), () => to.toString('latin1')),
    text,
  );
}
