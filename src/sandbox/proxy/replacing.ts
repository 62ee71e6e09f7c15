import { Transform, type TransformCallback } from 'node:stream';
import type { Patterns } from './matching/patterns.js';
import { rewritten } from './matching/rewriting.js';
import { Search } from './matching/search.js';

/**
 * Replaces texts in a stream of bytes, however it is divided into chunks. Holds back only bytes that may
 * begin a match, so data that is sent piece by piece arrives so.
 */
export class Replacing extends Transform {
  readonly #search: Search;
  /** Bytes that may still be needed, and their position in the stream. */
  #rest: Buffer = Buffer.alloc(0);
  #offset = 0;
  /** End of the data that was passed on. */
  #done = 0;

  constructor(patterns: Patterns) {
    super();
    this.#search = new Search(patterns);
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#replace(this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]), false);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#replace(this.#rest, true);
    done();
  }

  #replace(bytes: Buffer, isLast: boolean): void {
    const offset = this.#offset;
    const excerpt = { bytes, offset, isLast };
    const passTo = (end: number): void => {
      if (end > this.#done) this.push(bytes.subarray(this.#done - offset, end - offset));
      this.#done = Math.max(this.#done, end);
    };
    for (let match = this.#search.next(excerpt); match; match = this.#search.next(excerpt)) {
      passTo(match.start);
      this.push(rewritten(match, excerpt));
      this.#done = match.end;
    }
    const { decided } = this.#search;
    passTo(decided);
    this.#offset = Math.min(this.#done, decided);
    // A copy, since a view would keep the whole chunk in memory.
    this.#rest = Buffer.from(bytes.subarray(this.#offset - offset));
  }
}

/** Replaces texts in a string of single-byte characters, such as a header. */
export function replaceAll(text: string, patterns: Patterns): string {
  const excerpt = { bytes: Buffer.from(text, 'latin1'), offset: 0, isLast: true };
  const search = new Search(patterns);
  const parts: Buffer[] = [];
  let done = 0;
  for (let match = search.next(excerpt); match; match = search.next(excerpt)) {
    parts.push(excerpt.bytes.subarray(done, match.start), rewritten(match, excerpt));
    done = match.end;
  }
  return Buffer.concat([...parts, excerpt.bytes.subarray(done)]).toString('latin1');
}
