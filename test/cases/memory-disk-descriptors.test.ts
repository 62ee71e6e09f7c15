import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type MergedResult, run } from '../../src/index.js';
import { quote } from '../support/commands.js';
import { type HostAnswer, namespaces, publicCopy, runHost, startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { descriptors, where } from '../support/needs.js';
import { eventually, openDescriptors, processesOf, zombiesOf } from '../support/processes.js';
import { exited, printed } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();

/** Twice 128 KiB are kept; all the rest is buffers, and Node's own heap. */
const ENOUGH = 24 * 1024 * 1024;

interface MemoryReport {
  readonly grownBy: number;
  readonly result: MergedResult;
}

test('D1: endless output takes no more memory than its kept part', async () => {
  const args = ['yes', '{"timeoutMs":3000}'];
  const { grownBy, result } = await runHost<MemoryReport>('memory', { args });
  expect(result.outcome).toMatchObject({ kind: 'timedOut', forced: false });
  expect(result.output.total.bytes).toBeGreaterThan(100_000_000);
  expect(grownBy).toBeLessThan(ENOUGH);
  if (result.output.kind !== 'cut') throw new Error('expected the output to be cut');
  expect(result.output.head).toBe('y\n'.repeat(65_536));
  expect(result.output.tail).toMatch(/^(y?\n)(y\n)*y?$/);
  expect(result.output.tail).toHaveLength(131_072);
});

test('D1: endless output without a newline, or with a listener, takes no more memory either', async () => {
  const args = ['yes | tr -d "\\n"', '{"timeoutMs":1500,"streams":"separate"}'];
  const { grownBy } = await runHost<MemoryReport>('memory', { args });
  expect(grownBy).toBeLessThan(ENOUGH);
});

test('D2: a background child that prints for ever is drained within the same bound', async () => {
  const args = ['yes & sleep 0.2', '{}', '3000'];
  const { grownBy, result } = await runHost<MemoryReport>('memory', { args });
  expect(result.outcome).toEqual(exited(0));
  expect(result.background).toMatchObject([{ command: 'yes' }]);
  expect(grownBy).toBeLessThan(ENOUGH);
});

test('D3: a spill file stops at its quota, says so, and capture goes on', async () => {
  const path = folder.file('quota');
  const spill = { path, maxBytes: 10_000_000 };
  const result = await run('yes', { timeoutMs: 1000, spill });
  expect(statSync(path).size).toBe(10_000_000);
  const { bytes } = result.output.total;
  expect(bytes).toBeGreaterThan(10_000_000);
  expect(result.spill).toEqual({ path, bytes: 10_000_000, dropped: bytes - 10_000_000 });
  expect(result.outcome).toMatchObject({ kind: 'timedOut' });
  expect(result.output).toMatchObject({ kind: 'cut' });
});

test('D3: a spill file has every byte, and only its owner may read it', async () => {
  const path = folder.file('whole');
  const result = await run('seq 1 1000000', { spill: path });
  const bytes = readFileSync(path);
  expect(bytes.length).toBe(result.output.total.bytes);
  expect(bytes.equals(Buffer.from(execFileSync('seq', ['1', '1000000'], { maxBuffer: 1e8 })))).toBe(
    true,
  );
  expect(result.spill).toEqual({ path, bytes: bytes.length, dropped: 0 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('D4: a full disk is reported, and the command goes on', async () => {
  const disk = folder.file('disk');
  mkdirSync(disk);
  const mount = `mount -t tmpfs -o size=64k none ${quote(disk)} && exec "$@"`;
  const under = namespaces('-m', 'sh', '-c', mount, 'sh');
  const host = startHost('commands', { under });
  const spill = `${disk}/output`;
  const { result } = await host.run('seq 1 100000', { spill });
  expect(result?.outcome).toEqual(exited(0));
  expect(result?.output).toMatchObject({ kind: 'cut', total: { bytes: 588_895, lines: 100_000 } });
  expect(result?.spill).toEqual({
    path: spill,
    bytes: 65_536,
    dropped: 588_895 - 65_536,
    error: { code: 'ENOSPC', errno: 28, message: 'No space left on device' },
  });
  host.child.stdin?.end();
  await host.ended;
});

test.each([
  ['in a folder that is not there', 'nowhere/output', 'ENOENT'],
  ['that is a folder', '.', 'EISDIR'],
])('D4: a spill file %s is reported, and the command goes on', async (_, name, code) => {
  const path = folder.file(name);
  const result = await run('echo hi', { spill: path });
  expect(result.outcome).toEqual(exited(0));
  expect(printed(result)).toBe('hi\n');
  expect(result.spill).toMatchObject({ path, bytes: 0, dropped: 3, error: { code } });
});

test('D5: five hundred commands leave no descriptor', async () => {
  const before = openDescriptors();
  for (let count = 0; count < 500; count += 1) await run('true');
  // The thread that sends commands may close what it has sent after their end.
  await eventually(() => expect(openDescriptors()).toEqual(before));
  expect(zombiesOf()).toEqual([]);
});

test('D5: commands that cannot be started, time out, or leave a child leave no descriptor', async () => {
  const before = openDescriptors();
  const options = { spill: folder.file('spill'), input: 'x' };
  for (let count = 0; count < 20; count += 1) {
    await run('true', { ...options, cwd: folder.file('nowhere') }).catch(() => {});
    await run('sleep 300', { ...options, timeoutMs: 10 });
    await run('sleep 0.01 & echo hi', { ...options, streams: 'separate' });
  }
  await eventually(() => expect(openDescriptors().length).toBeLessThanOrEqual(before.length));
});

interface Inventory {
  readonly descriptors: number;
  readonly threads: number;
  readonly children: number;
}

interface ManyReport {
  readonly outcomes: Record<string, number>;
  readonly before: Inventory;
  readonly after: Inventory;
}

function expectNoMore(after: Inventory, before: Inventory) {
  expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
  expect(after.threads).toBeLessThanOrEqual(before.threads);
  // Zombies are children too.
  expect(after.children).toBeLessThanOrEqual(before.children);
}

test('D5: ten thousand commands leave no descriptor, thread or zombie', {
  tags: ['slow'],
  timeout: 300_000,
}, async () => {
  const args = ['true', '10000', '50'];
  const { outcomes, before, after } = await runHost<ManyReport>('many', { args });
  expect(outcomes).toEqual({ [JSON.stringify([exited(0), ''])]: 10_000 });
  expectNoMore(after, before);
});

test('D5: two thousand commands at once need no thread each, and leave no descriptors', {
  ...where(descriptors(16_384)),
  tags: ['slow'],
  timeout: 300_000,
}, async () => {
  const args = ['sleep 1; echo done', '2000', '2000'];
  const { outcomes, before, after } = await runHost<ManyReport>('many', { args });
  expect(outcomes).toEqual({ [JSON.stringify([exited(0), 'done\n'])]: 2000 });
  expectNoMore(after, before);
});

interface DescriptorReport {
  readonly full: string;
  readonly killed: unknown;
  readonly refusals: readonly HostAnswer['error'][];
  readonly result: unknown;
}

test('D6: without descriptors a launch fails with EMFILE, and the next ones work', async () => {
  const under = ['sh', '-c', 'ulimit -n 80; exec "$@"', 'sh'];
  const host = startHost('descriptors', { under });
  const report = await host.next<DescriptorReport>();
  expect(report.full).toBe('EMFILE');
  expect(report.refusals.length).toBeGreaterThan(3);
  for (const refusal of report.refusals) {
    expect(refusal).toMatchObject({ name: 'LaunchError', code: 'EMFILE' });
  }
  expect(report.result).toMatchObject({
    outcome: exited(0),
    stdout: { kind: 'complete', text: 'works\n' },
  });
  host.child.stdin?.end();
  await host.ended;
});

test('D6: without descriptors a deadline still ends all processes', async () => {
  const under = ['sh', '-c', 'ulimit -n 80; exec "$@"', 'sh'];
  const host = startHost('descriptors', { under });
  const { killed } = await host.next<DescriptorReport>();
  expect(killed).toEqual({
    kind: 'cancelled',
    by: 'kill',
    forced: true,
    ending: { kind: 'signaled', signal: 'SIGKILL' },
  });
  expect(processesOf(host.child.pid)).toEqual([]);
  host.child.stdin?.end();
  await host.ended;
});

test('D7: a command has no descriptors but its own, whatever the host has open', async () => {
  const inherit = 'exec 5</dev/null 9>/dev/null 99</dev/null; exec "$@"';
  const under = ['bash', '-c', inherit, 'bash'];
  const host = startHost('commands', { under });
  const command = 'for f in /proc/self/fd/*; do basename $f; done';
  const { result } = await host.run(command);
  // 3 and perhaps more are bash's own, while it reads the folder.
  expect(result && printed(result)).toMatch(/^0\n1\n2\n(3\n)?$/);
  const listed = await host.run('ls -l /proc/self/fd');
  const targets = (listed.result ? printed(listed.result) : '').match(/ \d+ -> .*/g);
  expect(targets).toEqual([
    ' 0 -> /dev/null',
    expect.stringMatching(/^ 1 -> pipe:/),
    expect.stringMatching(/^ 2 -> pipe:/),
    expect.stringMatching(/^ 3 -> \/proc\/\d+\/fd$/),
  ]);
  host.child.stdin?.end();
  await host.ended;
});

test('D8: without processes a launch fails with EAGAIN, and the next one works', async () => {
  // The limit does not bind root.
  chmodSync(folder.path, 0o755);
  const from = publicCopy(folder.file('package'));
  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const under = process.getuid?.() === 0 ? nobody : [];
  const host = startHost('commands', { under, from, env: { HOME: '/' } });
  const warm = await host.run('echo warm');
  expect(warm.result?.outcome).toEqual(exited(0));
  const setLimit = (soft: string) => {
    const limit = ['prlimit', '--pid', String(host.child.pid), `--nproc=${soft}:`];
    // As the same user: root may lack what it takes to do this to others.
    execFileSync('env', [...under, ...limit]);
  };
  const limits = readFileSync(`/proc/${host.child.pid}/limits`, 'utf8');
  const [, soft = ''] = /Max processes\s+(\d+|unlimited)/.exec(limits) ?? [];
  setLimit('1');
  const refused = await host.run('true', { cwd: '/' });
  expect(refused.error).toMatchObject({ name: 'LaunchError', code: 'EAGAIN', step: 'clone' });
  setLimit(soft);
  const works = await host.run('echo works', { cwd: '/' });
  expect(works.result && printed(works.result)).toBe('works\n');
  host.child.stdin?.end();
  await host.ended;
});
