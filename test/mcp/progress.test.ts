import { expect, test } from 'vitest';
import { type ProgressNote, ProgressStream } from '../../src/mcp/call/progress.js';
import { fc } from '../support/properties.js';

const chunk = (text: string, droppedBytes = 0) => ({
  stream: 'output' as const,
  text,
  droppedBytes,
});
const skipped = /\n\[(\d+) bytes skipped\]\n/g;

/** A client that takes a note only when it is let. */
function slowClient() {
  const notes: ProgressNote[] = [];
  const waiting: (() => void)[] = [];
  const stream = new ProgressStream((note) => {
    notes.push(note);
    return new Promise((resolve) => waiting.push(resolve));
  });
  const take = async () => {
    waiting.shift()?.();
    await new Promise(setImmediate);
  };
  return { notes, stream, take };
}

test('notes have all of the output in order, whatever the pace', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.string({ minLength: 1, unit: 'grapheme' }), fc.constant(undefined))),
      async (steps) => {
        const { notes, stream, take } = slowClient();
        for (const step of steps) {
          if (step === undefined) await take();
          else stream.push(chunk(step));
        }
        const finished = stream.finish();
        for (let i = 0; i <= steps.length + 1; i += 1) await take();
        await finished;
        expect(notes.map(({ message }) => message).join('')).toBe(steps.join(''));
        const counts = notes.map(({ progress }) => progress);
        for (const [index, count] of counts.entries()) {
          expect(count).toBeGreaterThan(counts[index - 1] ?? 0);
        }
        expect(counts.at(-1) ?? 0).toBe(Buffer.byteLength(steps.join('')));
      },
    ),
    { numRuns: 50 },
  );
});

test('a client that takes nothing costs bounded memory, and is told what it missed', async () => {
  const { notes, stream, take } = slowClient();
  const piece = 'x'.repeat(10_000);
  for (let i = 0; i < 1000; i += 1) stream.push(chunk(piece));
  const finished = stream.finish();
  await take();
  await take();
  await finished;
  expect(notes).toHaveLength(2);
  const text = notes.map(({ message }) => message).join('');
  const missed = [...text.matchAll(skipped)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  expect(text.length).toBeLessThan(100_000);
  expect(missed + text.replaceAll(skipped, '').length).toBe(10_000_000);
  expect(notes.at(-1)?.progress).toBe(10_000_000);
});

test('output that the engine dropped is reported where it is missing', async () => {
  const { notes, stream, take } = slowClient();
  stream.push(chunk('before'));
  await take();
  stream.push(chunk('after', 1234));
  expect(notes.at(-1)).toEqual({ progress: 1245, message: '\n[1234 bytes skipped]\nafter' });
});

test('once stopped it sends nothing', async () => {
  const { notes, stream, take } = slowClient();
  stream.push(chunk('one'));
  stream.push(chunk('two'));
  stream.stop();
  stream.push(chunk('three'));
  await take();
  expect(notes.map(({ message }) => message)).toEqual(['one']);
});

test('a client that is gone is no error', async () => {
  const stream = new ProgressStream(async () => {
    throw new Error('gone');
  });
  stream.push(chunk('one'));
  await stream.finish();
  stream.push(chunk('two'));
  await stream.finish();
});
