import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Capture, createOwner, spawn } from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually, isGone, lives } from '../support/processes.js';
import { exited, failureOf, whole } from '../support/results.js';
import { textUntil } from '../support/streams.js';

leavesNothingBehind();

const outputOf = (snapshot: unknown) => whole((snapshot as { output: Capture }).output);

test('spawn() resolves once the command runs, with the pid of its group and session', async () => {
  const live = await spawn('ps -o pgid=,sid= -p $$; sleep 300');
  expect(lives(live.pid)).toBe(true);
  expect(await textUntil(live, '\n')).toMatch(new RegExp(`^ *${live.pid} +${live.pid}\n`));
  const result = await live.kill();
  expect(result.pid).toBe(live.pid);
  expect(isGone(live.pid)).toBe(true);
});

test('the result settles without a reader of the output', async () => {
  const live = await spawn('seq 1 1000000; exit 3');
  expect((await live.result).outcome).toEqual(exited(3));
});

test('written data arrives, and end() ends the input', async () => {
  const live = await spawn('cat; echo "[end]"', { stdin: 'pipe' });
  await live.write('one\n');
  expect(await textUntil(live, 'one\n')).toBe('one\n');
  await live.write(new Uint8Array([0xe2, 0x82]));
  await live.write(new Uint8Array([0xac]));
  live.end();
  expect(await textUntil(live, '[end]\n')).toBe('€[end]\n');
  expect((await live.result).outcome).toEqual(exited(0));
});

test('a write larger than the pipe resolves when all of it is read', async () => {
  const live = await spawn('sleep 0.3; wc -c', { stdin: 'pipe' });
  let written = false;
  const write = live.write('x'.repeat(1_000_000)).then(() => {
    written = true;
  });
  await sleep(100);
  expect(written).toBe(false);
  live.end();
  await write;
  expect(await textUntil(live, '\n')).toBe('1000000\n');
});

test('writes keep their order, and end() comes after them', async () => {
  const live = await spawn('sha256sum; cat', { stdin: 'pipe' });
  const writes = Array.from({ length: 200 }, (_, index) => live.write(`${index}\n`.repeat(1000)));
  live.end();
  await Promise.all(writes);
  const expected = await spawn('for i in $(seq 0 199); do yes $i | head -1000; done | sha256sum');
  expect(await textUntil(live, '\n')).toBe(await textUntil(expected, '\n'));
});

test('writing after the end, or after the command has closed its stdin, is EPIPE', async () => {
  const live = await spawn('exec <&-; echo closed; sleep 300', { stdin: 'pipe' });
  await textUntil(live, 'closed');
  // The thread that has sent the command may be about to close the end that it has sent.
  await eventually(async () =>
    expect(await failureOf(live.write('x'))).toMatchObject({ code: 'EPIPE', errno: 32 }),
  );
  await live.kill();
  expect(await failureOf(live.write('x'))).toMatchObject({ code: 'EPIPE' });
  const ended = await spawn('cat', { stdin: 'pipe' });
  ended.end();
  ended.end();
  expect(await failureOf(ended.write('x'))).toMatchObject({ code: 'EPIPE' });
  await ended.result;
});

test('a waiting write fails with EPIPE when the command ends', async () => {
  const live = await spawn('sleep 0.2', { stdin: 'pipe' });
  expect(await failureOf(live.write('x'.repeat(1_000_000)))).toMatchObject({ code: 'EPIPE' });
  expect((await live.result).outcome).toEqual(exited(0));
});

test('without a pipe, writing and ending are input errors', async () => {
  const live = await spawn('true');
  const message = "stdin: expected 'pipe' at spawn(), got 'null'";
  expect(await failureOf(live.write('x'))).toMatchObject({ name: 'InputError', message });
  expect(() => live.end()).toThrow(message);
  await live.result;
});

test('signal() reaches the whole group, and the command may live on', async () => {
  const trap = `trap 'echo got it' USR1; sh -c 'trap "echo child too" USR1; echo up; sleep 1; :'`;
  const live = await spawn(`${trap}; echo rc=$?; exit 4`);
  await textUntil(live, 'up');
  expect(await live.signal('SIGUSR1')).toBe(true);
  const result = await live.result;
  expect(result.outcome).toEqual(exited(4));
  expect(outputOf(result)).toContain('child too\n');
  expect(outputOf(result)).toContain('got it\n');
});

test('kill() ends it with all processes that it started, and the result says how', async () => {
  const nap = longSleep(401);
  const live = await spawn(`setsid ${nap} & ${nap} & echo up; wait`);
  await textUntil(live, 'up');
  const result = await live.kill();
  expect(result.outcome).toEqual({
    kind: 'cancelled',
    by: 'kill',
    forced: false,
    ending: { kind: 'signaled', signal: 'SIGTERM' },
  });
  expect(sleeping(401)).toEqual([]);
  expect(result).toBe(await live.result);
});

test("kill()'s grace period overrides the command's own, also during an earlier kill()", async () => {
  const live = await spawn("trap '' TERM; echo up; sleep 300 & wait; wait", { graceMs: 600_000 });
  await textUntil(live, 'up');
  const patient = live.kill();
  await sleep(300);
  expect(lives(live.pid)).toBe(true);
  const result = await live.kill({ graceMs: 0 });
  expect(result.outcome).toMatchObject({ kind: 'cancelled', forced: true });
  expect(await patient).toBe(result);
});

test('kill() does not wait for the child of a command that has ended, and leaves it to its owner', async () => {
  const owner = createOwner();
  const live = await spawn(`${longSleep(402)} & echo up`, { owner });
  // Until the host knows of its end, an end is one of everything.
  await eventually(async () => expect(await live.signal('SIGCONT')).toBe(false));
  const result = await live.kill();
  expect(result.outcome).toEqual(exited(0));
  expect(result.background).toMatchObject([{ command: longSleep(402) }]);
  await owner.dispose();
  expect(sleeping(402)).toEqual([]);
});

test('leaving the scope of an await-using ends it', async () => {
  const live = await spawn(longSleep(403));
  await live[Symbol.asyncDispose]();
  expect(sleeping(403)).toEqual([]);
});

test('a snapshot has the output so far, and there is none after the end', async () => {
  const live = await spawn('echo one; read x; echo two', { stdin: 'pipe' });
  await textUntil(live, 'one');
  expect(outputOf(await live.snapshot())).toBe('one\n');
  expect(outputOf(await live.snapshot())).toBe('one\n');
  live.end();
  expect(outputOf(await live.result)).toBe('one\ntwo\n');
  expect(await live.snapshot()).toBeUndefined();
});

test('a snapshot keeps to the limits and to the streams of the result', async () => {
  const live = await spawn('seq 1 100; echo oops >&2; echo up; sleep 300', {
    streams: 'separate',
    headBytes: 2,
    tailBytes: 3,
  });
  for await (const chunk of live) if (chunk.text.includes('up')) break;
  // The two streams are read each in its own time.
  await eventually(async () =>
    expect(await live.snapshot()).toMatchObject({
      stdout: { kind: 'cut', head: '1\n', tail: 'up\n', total: { lines: 101 } },
      stderr: { kind: 'complete', text: 'oops\n' },
    }),
  );
  await live.kill();
});

test('a slow reader loses the middle, and gets its size', async () => {
  const live = await spawn('seq 1 2000000');
  await live.result;
  let [text, dropped] = ['', 0];
  for await (const chunk of live) {
    text += chunk.text;
    dropped += chunk.droppedBytes;
  }
  expect(dropped).toBeGreaterThan(10_000_000);
  expect(text.length + dropped).toBe(14_888_896);
  expect(text.startsWith('1\n2\n3\n')).toBe(true);
  expect(text.endsWith('\n1999999\n2000000\n')).toBe(true);
});

test.each(['text', 'bytes'] as const)(
  'with overflow: pause the command waits, and nothing is lost, as %s',
  async (encoding) => {
    const options = { encoding, overflow: 'pause' } as { encoding: 'text'; overflow: 'pause' };
    const live = await spawn('seq 1 2000000', options);
    await sleep(500);
    expect(lives(live.pid)).toBe(true);
    let [size, dropped] = [0, 0];
    for await (const chunk of live) {
      size += encoding === 'text' ? chunk.text.length : (chunk as unknown as Bytes).bytes.length;
      dropped += chunk.droppedBytes;
    }
    expect([size, dropped]).toEqual([14_888_896, 0]);
    expect((await live.result).outcome).toEqual(exited(0));
  },
);

interface Bytes {
  readonly bytes: Uint8Array;
}

test('a command that waits for its reader can be ended, by kill() and by its deadline', async () => {
  const live = await spawn('yes', { overflow: 'pause' });
  await sleep(200);
  expect((await live.kill()).outcome).toMatchObject({ kind: 'cancelled' });
  const timed = await spawn('yes', { overflow: 'pause', timeoutMs: 200, spill: '/dev/null' });
  expect((await timed.result).outcome).toMatchObject({ kind: 'timedOut' });
});

test('kill() does not wait for the reader when the command has ended by itself, and no output is lost', async () => {
  const command = 'head -c 180000 /dev/zero | tr "\\0" x; echo end';
  const live = await spawn(command, { overflow: 'pause' });
  // Until the host knows of its end, an end is one of everything.
  await eventually(async () => expect(await live.signal('SIGCONT')).toBe(false));
  const { outcome, ...rest } = await live.kill();
  expect(outcome).toEqual(exited(0));
  expect(outputOf(rest)).toBe(`${'x'.repeat(180_000)}end\n`);
  let text = '';
  for await (const chunk of live) text += chunk.text;
  expect(text).toBe(outputOf(rest));
});

test('kill() loses no output of a command that has just ended', async () => {
  for (let tries = 0; tries < 30; tries += 1) {
    const live = await spawn('head -c 60000 /dev/zero | tr "\\0" x; echo end');
    while (!isGone(live.pid)) await new Promise((resolve) => setImmediate(resolve));
    const { outcome, ...rest } = await live.kill();
    if (outcome.kind !== 'exited') continue;
    expect(outputOf(rest)).toBe(`${'x'.repeat(60_000)}end\n`);
  }
});

test('two readers share the chunks', async () => {
  const live = await spawn('for i in $(seq 20); do echo $i; sleep 0.06; done');
  const collect = async () => {
    let text = '';
    for await (const chunk of live) text += chunk.text;
    return text;
  };
  const [one, two] = await Promise.all([collect(), collect()]);
  expect(
    `${one}${two}`
      .trim()
      .split('\n')
      .map(Number)
      .sort((a, b) => a - b),
  ).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});
