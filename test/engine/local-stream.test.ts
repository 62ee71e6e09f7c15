import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { NamedPipe, TextCapture } from '../../src/engine/local-stream.js';
import { LaunchError, run } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';

leavesNothingBehind();
const folder = useFolder();

test('a named pipe is open for reading at once, and for its owner alone', () => {
  const path = folder.file('pipe');
  const pipe = new NamedPipe(path, false);
  const { mode } = statSync(path);
  expect(mode & 0o777).toBe(0o600);
  expect(readlinkSync(`/proc/self/fd/${pipe.descriptor}`)).toBe(path);
  writeFileSync(path, 'hi');
  const buffer = Buffer.alloc(8);
  expect(pipe.read(buffer)).toBe(2);
  expect(buffer.toString('utf8', 0, 2)).toBe('hi');
  // The one who wrote has closed it.
  expect(pipe.read(buffer)).toBe('noWriter');
  pipe.close();
});

test('the number of unread bytes in a pipe is known', () => {
  const path = folder.file('unread');
  const pipe = new NamedPipe(path, true);
  expect(pipe.unread).toBe(0);
  writeFileSync(path, 'four');
  expect(pipe.unread).toBe(4);
  pipe.read(Buffer.alloc(3));
  expect(pipe.unread).toBe(1);
  pipe.close();
  expect(pipe.unread).toBeUndefined();
});

test('a pipe that stays open has no EOF', () => {
  const pipe = new NamedPipe(folder.file('open'), true);
  expect(pipe.read(Buffer.alloc(8))).toBe('empty');
  pipe.close();
});

test('a pipe is ready when there is something to read, and when its last writer has gone', async () => {
  const path = folder.file('ready');
  const pipe = new NamedPipe(path, false);
  const first = pipe.whenReady('reading');
  // Without a writer so far it is not.
  expect(await Promise.race([first, run('sleep 0.1').then(() => 'waits')])).toBe('waits');
  const result = run(`printf hi >${path}`);
  expect(await first).toBe(true);
  await result;
  expect(pipe.read(Buffer.alloc(8))).toBe(2);
  expect(await pipe.whenReady('reading')).toBe(true);
  expect(pipe.read(Buffer.alloc(8))).toBe('noWriter');
  pipe.close();
});

test('a pipe takes what there is room for, and is ready for writing again once some was read', async () => {
  const pipe = new NamedPipe(folder.file('full'), true);
  expect(await pipe.whenReady('writing')).toBe(true);
  const written = pipe.write(Buffer.alloc(1_000_000)) ?? 0;
  expect(written).toBe(pipe.unread);
  expect(pipe.write(Buffer.alloc(1))).toBe(0);
  const ready = pipe.whenReady('writing');
  expect(pipe.read(Buffer.alloc(written))).toBe(written);
  expect(await ready).toBe(true);
  pipe.close();
});

test('a pipe is closed once, which ends a wait for it, and every use after it', async () => {
  const pipe = new NamedPipe(folder.file('closed'), true);
  const link = `/proc/self/fd/${pipe.descriptor}`;
  const ready = pipe.whenReady('reading');
  pipe.close();
  expect(() => readlinkSync(link)).toThrow('ENOENT');
  expect(await ready).toBe(false);
  // The number is another file's by now.
  const other = openSync('/dev/null', 'r');
  pipe.close();
  expect(fstatSync(other).isCharacterDevice()).toBe(true);
  closeSync(other);
  expect(pipe.descriptor).toBeLessThan(0);
  expect(pipe.read(Buffer.alloc(8))).toBe('noWriter');
  expect(pipe.write(Buffer.alloc(8))).toBeUndefined();
  expect(await pipe.whenReady('reading')).toBe(false);
});

test('a pipe that cannot be created is an error with the name of the reason', () => {
  const path = folder.file('none/pipe');
  const make = () => new NamedPipe(path, false);
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
