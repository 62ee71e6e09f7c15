import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { attach } from '../../src/index.js';
import { readOutputFile } from '../../src/tasks/detached/output-file.js';
import { readOutput } from '../../src/tasks/output.js';
import { cli } from '../support/cli.js';
import { longSleep } from '../support/commands.js';
import { untilState, useTasks } from '../support/detached-tasks.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually, isGone, parentOf } from '../support/processes.js';
import { fc } from '../support/properties.js';

leavesNothingBehind();
const tasks = useTasks();

const seq = (last: number) => Array.from({ length: last }, (_, at) => `${at + 1}\n`).join('');

test('T8: the first and the last part are kept, and each reader is told what is missing', async () => {
  const subject = await tasks.start('seq 1 100000', { maxOutputBytes: 10_000 });
  await untilState(subject, 'ended');
  const all = seq(100_000);
  const task = await attach(subject.id);
  const first = await task.read();
  expect(first).toMatchObject({ text: all.slice(0, 5000), missedBytes: 0, total: all.length });
  const last = await task.read({ since: first.cursor });
  expect(all.endsWith(last.text)).toBe(true);
  expect(last.text.length).toBeGreaterThanOrEqual(4000);
  expect(last.missedBytes).toBe(all.length - 5000 - last.text.length);
  expect(task.receipt?.kept).toMatchObject({
    bytes: 5000 + last.text.length,
    missing: last.missedBytes,
  });
  const shown = await cli('attach', subject.id);
  expect(shown.stdout.toString()).toBe(first.text + last.text);
  expect(shown.stderr).toBe(
    `forkline: ${last.missedBytes} bytes of its output were cut out here\n`,
  );
});

test('T8: while a command prints on, its last output is read, and a cursor goes on behind the gap', async () => {
  const command = `seq 1 50000; read a; seq 50001 100000; read a; echo late; ${longSleep(374)}`;
  const subject = await tasks.start(command, { maxOutputBytes: 10_000, stdin: 'pipe' });
  const task = await attach(subject.id);
  await task.wait({ line: '50000' });
  const [, first] = [await task.read(), await task.read({ since: 8000 })];
  expect(first.text.endsWith('50000\n')).toBe(true);
  await task.write('\n');
  await task.wait({ line: '100000' });
  const second = await task.read({ since: first.cursor });
  expect(second.text.endsWith('99999\n100000\n')).toBe(true);
  expect(second.missedBytes).toBeGreaterThan(0);
  await task.write('\n');
  await eventually(async () => {
    const { text, missedBytes } = await task.read({ since: second.cursor });
    expect({ text, missedBytes }).toEqual({ text: 'late\n', missedBytes: 0 });
  });
  await task.stop({ graceMs: 0 });
});

test('T13: an endless output never takes more disk than its quota', async () => {
  const subject = await tasks.start('yes', { maxOutputBytes: 1_000_000 });
  const place = dirname(subject.outputFile);
  const taken = () => {
    const names = readdirSync(place).filter((name) => /^output($|\.last)/.test(name));
    const stats = names.map((name) => statSync(join(place, name), { throwIfNoEntry: false }));
    return stats.reduce((sum, found) => sum + (found?.size ?? 0), 0);
  };
  let most = 0;
  await eventually(async () => {
    most = Math.max(most, taken());
    expect((await subject.read(Number.MAX_SAFE_INTEGER, 0)).total).toBeGreaterThan(200_000_000);
  });
  // With the text for people in the output's own file.
  expect(most).toBeLessThanOrEqual(1_000_500);
  expect(most).toBeGreaterThan(800_000);
  await subject.end(0);
  const { receipt } = subject.state as { receipt?: { kept?: { bytes: number; missing: number } } };
  const { total } = await subject.read(Number.MAX_SAFE_INTEGER, 0);
  expect((receipt?.kept?.bytes ?? 0) + (receipt?.kept?.missing ?? 0)).toBe(total);
});

test('an output as long as its quota is whole, and one byte more is not', async () => {
  const [fits, exceeds] = await Promise.all([
    tasks.start("head -c 1000 /dev/zero | tr '\\0' x", { maxOutputBytes: 1000 }),
    tasks.start("head -c 1001 /dev/zero | tr '\\0' x", { maxOutputBytes: 1000 }),
  ]);
  await Promise.all([untilState(fits, 'ended'), untilState(exceeds, 'ended')]);
  const task = await attach(fits.id);
  expect(await task.read()).toMatchObject({ text: 'x'.repeat(1000), missedBytes: 0 });
  expect(task.receipt?.kept).toMatchObject({ bytes: 1000, missing: 0 });
  const missing = (await attach(exceeds.id)).receipt?.kept?.missing;
  expect(missing).toBeGreaterThan(0);
  expect(missing).toBeLessThanOrEqual(100);
});

test('a reader that goes on from its cursor gets each kept byte once, and all gaps are told', async () => {
  const lengths = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 4, max: 5000 }));
  const texts = fc.array(fc.constantFrom('a', 'é', '日本', '😀\n'), { minLength: 1, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(lengths, texts, async ([hundreds, maxBytes], words) => {
      const all = Buffer.from(words.join('').repeat(hundreds * 10));
      const command = `printf '%s' '${words.join('')}' >w; for i in $(seq ${hundreds * 10}); do cat w; done`;
      const cwd = tasks.folder.path;
      const subject = await tasks.start(command, { maxOutputBytes: 3000, cwd });
      await untilState(subject, 'ended');
      let cursor = 0;
      let kept = 0;
      for (;;) {
        const raw = await readOutputFile(subject.outputFile, cursor, maxBytes);
        expect(raw.bytes).toEqual(all.subarray(raw.from, raw.from + raw.bytes.length));
        const output = await readOutput(subject, cursor, maxBytes);
        expect(output.total).toBe(all.length);
        if (output.cursor === cursor) break;
        kept += output.cursor - cursor - output.missedBytes;
        cursor = output.cursor;
      }
      expect(cursor).toBe(all.length);
      expect(kept).toBeLessThanOrEqual(3000);
    }),
    { numRuns: 12 },
  );
});

test('the keeper can be killed at any moment: what is kept is at its position, and the command ends', async () => {
  const line = 'abcdefg\n';
  for (let delay = 0; delay < 12; delay += 1) {
    const subject = await tasks.start(`exec yes abcdefg`, { maxOutputBytes: 100_000 });
    const { pid } = subject.record;
    await sleep(3 * delay);
    process.kill(parentOf(pid), 'SIGKILL');
    await untilState(subject, 'lost');
    // Its next output has no reader.
    await eventually(() => expect(isGone(pid)).toBe(true));
    let cursor = 0;
    let kept = 0;
    for (;;) {
      const { bytes, from, total } = await subject.read(cursor, 7000);
      if (bytes.length === 0) {
        expect(from).toBe(total);
        break;
      }
      const expected = line.repeat(1000).slice(from % 8, (from % 8) + bytes.length);
      expect(Buffer.from(bytes).toString() === expected).toBe(true);
      kept += bytes.length;
      cursor = from + bytes.length;
    }
    expect(kept).toBeLessThanOrEqual(100_000);
    expect((await attach(subject.id)).state).toBe('lost');
  }
});
