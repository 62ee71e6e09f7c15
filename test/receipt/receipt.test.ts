import { execFile } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { InputError, type Receipt, receiptOf, run, spawn } from '../../src/index.js';
import { longSleep } from '../support/commands.js';
import { publicCopy } from '../support/hosts.js';
import { read } from '../support/house.js';
import { leavesNothingBehind, useFolder, useOwners } from '../support/leftovers.js';
import { failureOf } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const makeOwner = useOwners();

const receiptFor = async (...call: Parameters<typeof run>) => receiptOf(await run(...call));

// A new field is a mistake of types here, and then has to be on the page.
const FIELDS: Readonly<Record<keyof Receipt, true>> = {
  pid: true,
  outcome: true,
  outOfMemory: true,
  durationMs: true,
  cpu: true,
  peakMemory: true,
  exitCodeOf: true,
  wentBy: true,
  brokenPipe: true,
  background: true,
  streams: true,
  kept: true,
  sandbox: true,
  executed: true,
  moreExecuted: true,
  limits: true,
  firstRun: true,
  troubles: true,
};

test('docs/api.md has a row for each field of a receipt', () => {
  const sections = read('docs/api.md').split(/^## /m);
  const section = sections.find((one) => one.startsWith('`receiptOf(')) ?? '';
  const firstCells = [...section.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
  const named = firstCells.flatMap((cell) => cell.replaceAll('`', '').split(', '));
  expect(named.sort()).toEqual(Object.keys(FIELDS).sort());
});

test("a receipt has a command's end and its costs, without its text and its output", async () => {
  const receipt = await receiptFor('printf é; echo two; exit 3');
  expect(receipt).toEqual({
    pid: expect.any(Number),
    outcome: { kind: 'exited', exitCode: 3 },
    background: [],
    streams: { output: { bytes: 6, characters: 5, lines: 1, cut: false, lossy: false } },
    troubles: [],
    durationMs: expect.any(Number),
    cpu: { userMs: expect.any(Number), systemMs: expect.any(Number) },
    peakMemory: { kind: expect.any(String), bytes: expect.any(Number) },
  });
  expect(JSON.parse(JSON.stringify(receipt))).toEqual(receipt);
});

test('a receipt has each stream, says which is cut, and names the file with all of it', async () => {
  const spill = folder.file('spill');
  const receipt = await receiptFor('seq 1000; echo no >&2', {
    streams: 'separate',
    headBytes: 10,
    tailBytes: 10,
    spill: { path: spill, maxBytes: 1000 },
  });
  expect(receipt.streams).toMatchObject({
    stdout: { bytes: 3893, lines: 1000, cut: true },
    stderr: { bytes: 3, lines: 1, cut: false },
  });
  expect(receipt.kept).toEqual({ path: spill, bytes: 1000, missing: 2896 });
});

test('a receipt has the error of the output file', async () => {
  const spill = folder.file('removed');
  const removing = `seq 9; until rm ${spill} 2>/dev/null; do sleep 0.01; done`;
  const { troubles } = await receiptFor(removing, { spill });
  expect(troubles).toEqual([
    'the output is not kept whole: ENOENT: the file was removed meanwhile',
  ]);
});

test('a receipt says what ended a command: a deadline, a signal, kill(), or the owner', async () => {
  const outcomeOf = async (...call: Parameters<typeof run>) => (await receiptFor(...call)).outcome;
  expect(await outcomeOf('kill -TERM $$')).toEqual({ kind: 'signaled', signal: 'SIGTERM' });
  expect(await outcomeOf('sleep 30', { timeoutMs: 50 })).toMatchObject({ kind: 'timedOut' });
  const signal = AbortSignal.timeout(50);
  expect(await outcomeOf('sleep 30', { signal })).toMatchObject({
    kind: 'cancelled',
    by: 'signal',
  });
  const before = { signal: AbortSignal.abort() };
  expect(await outcomeOf('true', before)).toMatchObject({ kind: 'cancelled', by: 'signal' });
  const live = await spawn('sleep 30');
  const { outcome } = await receiptOf(await live.kill());
  expect(outcome).toMatchObject({ kind: 'cancelled', by: 'kill' });
});

test('a receipt says that the owner was disposed of, before the start and after it', async () => {
  const owner = makeOwner();
  const running = run(longSleep(811), { owner });
  await owner.dispose();
  for (const result of [await running, await run('true', { owner })]) {
    expect((await receiptOf(result)).outcome).toMatchObject({ kind: 'cancelled', by: 'owner' });
  }
});

test('a receipt names the program of the exit code when a pipeline ends in a filter', async () => {
  const piped = await receiptFor('false | tail');
  expect(piped.outcome).toEqual({ kind: 'exited', exitCode: 0 });
  expect(piped.exitCodeOf).toEqual({ program: 'tail', before: ['false'] });
  const honest = await receiptFor('set -o pipefail; false | tail');
  expect(honest.outcome).toEqual({ kind: 'exited', exitCode: 1 });
  expect(honest).not.toHaveProperty('exitCodeOf');
  const ended = await receiptFor('sleep 30 | tail', { timeoutMs: 50 });
  expect(ended).not.toHaveProperty('exitCodeOf');
});

/** A process in the background that listens, and a shell that waits until it does. */
function listening(host: string, file: string): string {
  const script = `
    const { writeFileSync } = require("fs");
    const server = require("net").createServer();
    server.listen(0, "${host}", () => writeFileSync("${file}", String(server.address().port)));`;
  return `'${process.execPath}' -e '${script}' >/dev/null 2>&1 & until [ -s ${file} ]; do sleep 0.02; done; cat ${file}`;
}

test.each(['127.0.0.1', '::1'])(
  'a receipt has the ports of remaining processes, on %s',
  async (host) => {
    const owner = makeOwner();
    const file = folder.file(`port-${host.length}`);
    const result = await run(listening(host, file), { owner });
    const port = 'output' in result && result.output.kind === 'complete' ? result.output.text : '';
    const { background, troubles } = await receiptOf(result);
    expect(background).toMatchObject([{ ports: [{ address: host, port: Number(port) }] }]);
    expect(troubles).toEqual([]);
  },
);

test('a process that has ended by the time of the receipt listens nowhere', async () => {
  const owner = makeOwner();
  const result = await run(`${longSleep(812)} >/dev/null 2>&1 & true`, { owner });
  await owner.dispose();
  const { background, troubles } = await receiptOf(result);
  expect(background).toMatchObject([{ ports: [] }]);
  expect(troubles).toEqual([]);
});

test('a receipt names a process whose ports could not be read', async () => {
  chmodSync(folder.path, 0o755);
  const from = publicCopy(folder.file('package'));
  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const [program = '', ...args] = [
    ...(process.getuid?.() === 0 ? nobody : []),
    ...[process.execPath, '--input-type=module', '-e'],
    `import { receiptOf, run } from '${join(from, 'dist/index.js')}';
    const background = [{ pid: 1, processGroup: 1, command: 'init' }];
    console.log(JSON.stringify(await receiptOf({ ...(await run('true')), background })));`,
  ];
  const { stdout } = await promisify(execFile)(program, args, { cwd: '/' });
  expect(JSON.parse(stdout)).toMatchObject({
    background: [{ pid: 1, ports: [] }],
    troubles: ['the ports of process 1 could not be looked at'],
  });
});

test('a receipt is made of a result only; other values are refused', async () => {
  const loose = receiptOf as (result: unknown) => Promise<unknown>;
  for (const value of [undefined, null, 5, {}]) {
    const error = await failureOf(loose(value));
    expect(error).toBeInstanceOf(InputError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^result: expected a result of run/),
    });
  }
});
