import type { Capture, MergedResult } from '../../src/index.js';

/** What a command printed; it must have been kept whole. */
export function printed(result: MergedResult): string {
  return whole(result.output);
}

/** The text of a capture of which nothing was dropped. */
export function whole(capture: Capture): string {
  if (capture.kind === 'complete') return capture.text;
  throw new Error(`expected all of the output to be kept, ${capture.dropped.bytes} bytes were not`);
}

/** The outcome of a command that ended by itself. */
export function exited(exitCode: number) {
  return { kind: 'exited', exitCode } as const;
}

/** What a promise that must be rejected is rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}
