import type { OutputChunk } from '../../../index.js';
import { lastBytes } from '../../../support/text.js';

/** What is kept until somebody asks for it, in bytes. */
const MOST_BYTES = 1024 * 1024;

/** Output that nobody has asked for yet. Of more than 1 MiB the end is kept, and it is said. */
export class PendingOutput {
  readonly #texts = { output: '', stdout: '', stderr: '' };
  readonly #lost = { output: 0, stdout: 0, stderr: 0 };

  add({ stream, text, droppedBytes }: OutputChunk): void {
    this.#append('output', text, droppedBytes);
    this.#append(stream === 'stderr' ? 'stderr' : 'stdout', text, droppedBytes);
  }

  /** All of it, which is forgotten. */
  take(): { readonly output: string; readonly stdout: string; readonly stderr: string } {
    return {
      output: this.#takeOne('output'),
      stdout: this.#takeOne('stdout'),
      stderr: this.#takeOne('stderr'),
    };
  }

  #append(name: 'output' | 'stdout' | 'stderr', text: string, droppedBytes: number): void {
    const whole = this.#texts[name] + text;
    // It is cut when it has twice as much: not at each chunk.
    const kept = whole.length > 2 * MOST_BYTES ? lastBytes(whole, MOST_BYTES) : whole;
    this.#texts[name] = kept;
    this.#lost[name] += droppedBytes + lengthOf(whole) - lengthOf(kept);
  }

  #takeOne(name: 'output' | 'stdout' | 'stderr'): string {
    const whole = this.#texts[name];
    const text = lastBytes(whole, MOST_BYTES);
    const lost = this.#lost[name] + lengthOf(whole) - lengthOf(text);
    this.#texts[name] = '';
    this.#lost[name] = 0;
    return lost === 0 ? text : `[… ${lost} bytes before this are left out …]\n${text}`;
  }
}

function lengthOf(text: string): number {
  return Buffer.byteLength(text);
}
