import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { InputError, LaunchError, run, spawn } from '../../src/index.js';
import { connect, NoWorkerError } from '../../src/remote/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { FAR_SIDE, testWithNode, useFar } from '../support/far.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { exited, failureOf, printed } from '../support/results.js';

const far = await useFar();
leavesNothingBehind();
const folder = useFolder();

/** A result without what differs from run to run. */
function lasting(result: object): object {
  const { pid, durationMs, cpu, peakMemory, ...rest } = result as Record<string, unknown>;
  return rest;
}

test.each([
  ['echo one; echo two >&2; exit 3', {}],
  ['echo one; echo two >&2', { streams: 'separate' }],
  ['kill -9 $$', {}],
  ['seq 1 100000', { headBytes: 100, tailBytes: 50 }],
  ['printf "a\\xffb\\0"', {}],
  ['cat', { input: 'what it reads' }],
  ['cd /usr && true', { followDirectory: true }],
  ['sleep 5', { timeoutMs: 100 }],
  // Longer than a shell takes to start on a busy machine.
  ['trap "" TERM; echo ready; sleep 9', { timeoutMs: 3000, graceMs: 100 }],
  ['stty size', { pty: { columns: 100, rows: 30 } }],
  ['echo $PWD $OLDPWD $NOPE', { cwd: '/usr', env: { NOPE: 'x', OLDPWD: undefined } }],
  ['env | grep -v FORKLINE_MARK', { inheritEnv: 'none' }],
] as const)('%s has the same result on a far side as here', async (command, options) => {
  const [here, there] = await Promise.all([run(command, options), far.run(command, options)]);
  expect(lasting(there)).toEqual(lasting(here));
});

testWithNode('text of another encoding is decoded on a far side as here', async () => {
  const options = { encoding: 'gbk' };
  const here = await run('printf "\\xc4\\xe3"', options);
  expect(printed(here)).toBe('你');
  expect(lasting(await far.run('printf "\\xc4\\xe3"', options))).toEqual(lasting(here));
});

test('output is told as it comes, and all of it', async () => {
  const chunks: string[] = [];
  const told = folder.file('told');
  // It goes on once its first line is known here.
  const command = `echo 1; until test -e '${told}'; do sleep 0.05; done; echo 2; echo 3`;
  const onOutput = ({ text }: { readonly text: string }) => {
    chunks.push(text);
    writeFileSync(told, '');
  };
  await far.run(command, { onOutput });
  expect(chunks[0]).toBe('1\n');
  expect(chunks.join('')).toBe('1\n2\n3\n');
});

test('a listener that throws ends the command, and the call is rejected with its error', async () => {
  const onOutput = () => {
    throw new RangeError('no more');
  };
  const error = await failureOf(far.run(`echo a; ${longSleep(171)}`, { onOutput }));
  expect(error).toMatchObject({ name: 'RangeError', message: 'no more' });
  await eventually(() => expect(sleeping(171)).toEqual([]));
});

test('a command that is cancelled ends there, with all that it started', async () => {
  const controller = new AbortController();
  const running = far.run(`${longSleep(172)} & setsid ${longSleep(172)} & ${longSleep(172)}`, {
    signal: controller.signal,
  });
  await eventually(() => expect(sleeping(172)).toHaveLength(3));
  controller.abort();
  expect((await running).outcome).toMatchObject({ kind: 'cancelled', by: 'signal' });
  expect(sleeping(172)).toEqual([]);
});

test('a command that is cancelled in the turn of its start is never started', async () => {
  const file = folder.file('never');
  const controller = new AbortController();
  const running = far.run(`touch ${file}; sleep 9`, { signal: controller.signal });
  controller.abort();
  expect((await running).outcome).toMatchObject({
    kind: 'cancelled',
    ending: { kind: 'neverStarted' },
  });
  expect(() => readFileSync(file)).toThrow('ENOENT');
});

test('a live command is written to, signalled, looked at and ended', async () => {
  const command = 'trap "echo hup" HUP; while read line; do echo "<$line>"; done; echo end';
  const process = await far.spawn(command, { stdin: 'pipe' });
  await process.write('one\n');
  await eventually(async () => {
    expect(await process.snapshot()).toMatchObject({ output: { text: '<one>\n' } });
  });
  expect(await process.signal('SIGHUP')).toBe(true);
  await process.write('x'.repeat(300_000));
  process.end();
  let text = '';
  for await (const chunk of process) text += chunk.text;
  expect(text).toMatch(/^<one>\nhup\n/);
  expect(text).toMatch(/end\n$/);
  expect((await process.result).outcome).toEqual(exited(0));
  expect(await process.signal('SIGHUP')).toBe(false);
  expect(await process.snapshot()).toBeUndefined();
  expect(await failureOf(process.write('late'))).toMatchObject({ code: 'EPIPE' });
});

test('a signal that has ended its command counts as sent, whichever message comes first', async () => {
  const signalled = async () => {
    const process = await far.spawn('sleep 9');
    const isSent = await process.signal('SIGTERM');
    if (!isSent) await process.kill();
    return [isSent, (await process.result).outcome];
  };
  for (let round = 0; round < 25; round += 1) {
    const told = await Promise.all([signalled(), signalled(), signalled(), signalled()]);
    for (const one of told) expect(one).toEqual([true, { kind: 'signaled', signal: 'SIGTERM' }]);
  }
});

test('a command has a terminal, which can be resized', async () => {
  const process = await far.spawn('stty size; read x; stty size', { pty: true });
  let text = '';
  for await (const chunk of process) {
    if (text === '') {
      process.resize(90, 20);
      await process.write('\r');
    }
    text += chunk.text;
  }
  expect(text).toMatch(/^40 120\r\n.*20 90\r\n$/s);
});

test('bytes are exact, and the command waits for a slow reader', async () => {
  writeFileSync(
    folder.file('bytes'),
    Uint8Array.from({ length: 3_000_000 }, (_, at) => at % 251),
  );
  const command = `cat ${folder.file('bytes')}`;
  const process = await far.spawn(command, { encoding: 'bytes', overflow: 'pause' });
  const pieces: Uint8Array[] = [];
  for await (const { bytes, droppedBytes } of process) {
    expect(droppedBytes).toBe(0);
    pieces.push(bytes);
    if (pieces.length < 4) await sleep(50);
  }
  expect(Buffer.concat(pieces).equals(readFileSync(folder.file('bytes')))).toBe(true);
});

test('a result comes although the output is not read', async () => {
  const process = await far.spawn('seq 1 1000000');
  const { output } = (await process.result) as Awaited<ReturnType<typeof run>> & {
    readonly output: { readonly total: { readonly bytes: number } };
  };
  expect(output.total.bytes).toBe(6_888_896);
});

test('a command of a megabyte runs, and its megabyte of output comes back', async () => {
  const text = 'x'.repeat(1_000_000);
  const result = await far.run(`cat <<'END'\n${text}\nEND`, { headBytes: 2_000_000 });
  expect(printed(result)).toBe(`${text}\n`);
});

test('a spill file is written there, and the result reports it', async () => {
  const spill = folder.file('spill');
  const result = await far.run('seq 1 3', { spill: { path: spill, maxBytes: 4 } });
  expect(result.spill).toEqual({ path: spill, bytes: 4, dropped: 2 });
  const gone = await far.run(`seq 1 3; sleep 0.3; rm ${spill}`, { spill });
  expect(gone.spill?.error).toMatchObject({ code: 'ENOENT' });
});

test('a command that could not be started has the same error as here', async () => {
  const cwd = folder.file('nowhere');
  const here = await failureOf(run('true', { cwd }));
  const there = await failureOf(far.run('true', { cwd }));
  expect(there).toBeInstanceOf(LaunchError);
  expect({ ...(there as LaunchError) }).toEqual({ ...(here as LaunchError) });
  expect((there as Error).message).toBe((here as Error).message);
  expect(await failureOf(far.spawn('true', { cwd }))).toMatchObject({ step: 'directory' });
});

test.each([
  [{ owner: {} }, /^owner: not known here, commands on a far side belong to its connection/],
  [{ shell: ['bash'] }, /^shell: expected absolute paths, got "bash"$/],
  [{ timeoutMs: -1 }, /^timeoutMs: expected a number of milliseconds above 0, got -1$/],
  [
    { env: { A: () => {} } },
    /^env\.A: expected plain data, since it goes to another machine, got a/,
  ],
  [{ cwd: '' }, /^cwd: expected a path/],
  [{ spill: { path: 'x', most: 5 } }, /^spill\.most: not known here/],
] as const)('options that are not valid are named: %o', async (options, message) => {
  for (const call of [far.run('true', options as object), far.spawn('true', options as object)]) {
    const error = await failureOf(call);
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toMatch(message);
  }
});

test("the host's own variables are never sent", async () => {
  process.env.ONLY_HERE = 'secret of this process';
  try {
    expect(printed(await far.run('env', { inheritEnv: 'all' }))).not.toContain('ONLY_HERE');
    // A command of this side's own engine has it.
    expect(printed(await run('env', { inheritEnv: 'all' }))).toContain('ONLY_HERE');
  } finally {
    delete process.env.ONLY_HERE;
  }
});

test('text that a login prints before the far side speaks is skipped', async () => {
  const noise = 'echo "Welcome!"; printf "\\0\\1\\2"; exec "$@"';
  const noisy = await connect({ command: ['bash', '-c', noise, 'bash', ...FAR_SIDE] });
  expect(printed(await noisy.run('echo hi'))).toBe('hi\n');
  await noisy.dispose();
});

test.each([
  [['/does/not/exist'], {}, /ENOENT/],
  [['bash', '-c', 'echo no such container >&2; exit 7'], {}, /code 7.*: no such container/],
  [['cat', '/dev/zero'], {}, /not from `forkline serve`/],
  [['sleep', '60'], { readyMs: 500 }, /nothing came within 500 ms/],
] as const)(
  'no far side at %s is an error, and nothing is left',
  async (command, options, message) => {
    const error = await failureOf(connect({ command, ...options }));
    expect(error).toBeInstanceOf(NoWorkerError);
    expect((error as Error).message).toMatch(message);
  },
);

test('disposing of the connection ends running commands, and their results tell so', async () => {
  const own = await connect({ command: FAR_SIDE });
  const running = own.run(`${longSleep(173)} & ${longSleep(173)}`);
  const live = await own.spawn(longSleep(173));
  await eventually(() => expect(sleeping(173)).toHaveLength(3));
  await own.dispose();
  expect((await running).outcome).toMatchObject({ kind: 'cancelled', by: 'owner' });
  expect((await live.result).outcome).toMatchObject({ kind: 'cancelled', by: 'owner' });
  expect(sleeping(173)).toEqual([]);
  expect(await failureOf(own.run('true'))).toBeInstanceOf(NoWorkerError);
  const local = await spawn('true');
  expect((await local.result).outcome).toEqual(exited(0));
});
