import { closeSync, existsSync, readSync, statSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesInPipe, makeNamedPipe, TextCapture } from '../../src/engine/local-stream.js';
import { LaunchError, run } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();

test('a named pipe is open for reading at once, and for its owner alone', () => {
  const path = folder.file('pipe');
  const fd = makeNamedPipe(path, false);
  const { mode } = statSync(path);
  expect(mode & 0o777).toBe(0o600);
  writeFileSync(path, 'hi');
  const buffer = Buffer.alloc(8);
  expect(readSync(fd, buffer)).toBe(2);
  // The one who wrote has closed it.
  expect(readSync(fd, buffer)).toBe(0);
  closeSync(fd);
});

test('the number of unread bytes in a pipe is known', () => {
  const path = folder.file('unread');
  const fd = makeNamedPipe(path, true);
  expect(bytesInPipe(fd)).toBe(0);
  writeFileSync(path, 'four');
  expect(bytesInPipe(fd)).toBe(4);
  readSync(fd, Buffer.alloc(3));
  expect(bytesInPipe(fd)).toBe(1);
  closeSync(fd);
  expect(bytesInPipe(fd)).toBeUndefined();
});

test('a pipe that stays open has no EOF', () => {
  const fd = makeNamedPipe(folder.file('open'), true);
  expect(() => readSync(fd, Buffer.alloc(8))).toThrow('EAGAIN');
  closeSync(fd);
});

test('a pipe that cannot be created is an error with the name of the reason', () => {
  const path = folder.file('none/pipe');
  const make = () => makeNamedPipe(path, false);
  expect(make).toThrow(LaunchError);
  expect(make).toThrow(`ENOENT: the pipe ${path} could not be made`);
  expect(existsSync(path)).toBe(false);
});

test("a capture of bytes in pieces is the engine's capture of the same bytes", async () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  const limits = fc.record({
    headBytes: fc.integer({ min: 0, max: 30 }),
    tailBytes: fc.integer({ min: 0, max: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { maxLength: 4 }), limits, async (pieces, kept) => {
      const capture = new TextCapture(kept);
      for (const piece of pieces) capture.push(piece);
      const { output } = await run('cat', { input: Buffer.concat(pieces), ...kept });
      expect(capture.capture()).toEqual(output);
    }),
    { numRuns: 60 },
  );
});

test('a capture goes on after a snapshot', () => {
  const capture = new TextCapture({ headBytes: 10, tailBytes: 0 });
  capture.push(Buffer.from('a'));
  expect(capture.capture()).toMatchObject({ kind: 'complete', text: 'a' });
  capture.push(Buffer.from('\ufeffb\0'));
  expect(capture.capture()).toMatchObject({ text: 'a\ufeffb␀', total: { bytes: 6 }, lossy: true });
});
