import { BEGINS_ESCAPE } from './escapes.js';
import { type Pattern, patternOf, type Replacement, table } from './pattern.js';
import { Sieve } from './sieve.js';

/** Set of replacements, prepared once for many searches. */
export class Patterns {
  readonly all: readonly Pattern[];
  readonly hasEscapes: boolean;
  /** By a character: the patterns that begin with it. */
  readonly beginning: readonly (readonly Pattern[])[];
  /** By a byte: 1 if a pattern may begin with it. */
  readonly isBeginning: Uint8Array;
  readonly sieve: Sieve;

  constructor(replacements: readonly Replacement[]) {
    this.all = replacements.map(patternOf);
    this.hasEscapes = replacements.some(({ encoding }) => encoding !== 'exact');
    this.beginning = Array.from({ length: 256 }, (_, code) =>
      this.all.filter(({ canonical, codes }) => canonical[code] === codes[0]),
    );
    this.sieve = new Sieve(this.all, this.hasEscapes);
    this.isBeginning = table((byte) =>
      this.beginning[byte]?.length || (this.hasEscapes && BEGINS_ESCAPE[byte]) ? 1 : 0,
    );
  }

  /** Returns whether a stream keeps its length. */
  get keepsLength(): boolean {
    return this.all.every(({ keepsLength }) => keepsLength);
  }
}
