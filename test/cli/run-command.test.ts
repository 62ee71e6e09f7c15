import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cli, endOf, startCli } from '../support/cli.js';
import { quote } from '../support/commands.js';
import { useFolder } from '../support/leftovers.js';
import { eventually, isGone } from '../support/processes.js';

const folder = useFolder();

test('run prints the merged output and exits with the exit code', async () => {
  const command = `for i in 1 2 3; do echo line $i; done; ls ${quote(folder.file('nowhere'))}`;
  const { code, stdout, stderr } = await cli('run', command);
  expect(code).toBe(2);
  expect(stdout.toString()).toMatch(/^line 1\nline 2\nline 3\nls: .*nowhere.*\n$/);
  expect(stderr).toBe('');
});

test('output comes as the command prints it', async () => {
  const child = startCli('run', 'echo now; sleep 5');
  const end = endOf(child);
  const started = performance.now();
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  expect(performance.now() - started).toBeLessThan(3000);
  child.kill('SIGTERM');
  await end;
});

test('every byte arrives, in order', async () => {
  const { stdout } = await cli('run', 'seq 1 2000000; printf "a\\0\\xff"');
  const expected = Array.from({ length: 2_000_000 }, (_, index) => `${index + 1}\n`).join('');
  expect(stdout.length).toBe(expected.length + 3);
  expect(stdout.equals(Buffer.concat([Buffer.from(expected), Buffer.from([97, 0, 255])]))).toBe(
    true,
  );
});

test('a slow reader slows the command down', async () => {
  const marker = folder.file('written');
  const child = startCli('run', `head -c 50000000 /dev/zero; echo done >${quote(marker)}`);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(() => readFileSync(marker)).toThrow('ENOENT');
  const { code, stdout } = await endOf(child);
  expect(code).toBe(0);
  expect(stdout.length).toBe(50_000_000);
  expect(readFileSync(marker, 'utf8')).toBe('done\n');
});

test.each([[[]], [['--json']]])('ended by a signal, it waits for no reader: %j', async (flags) => {
  const ready = folder.file(`ready${flags.length}`);
  const command = `head -c 5000000 /dev/zero; touch ${quote(ready)}; exec sleep 30`;
  const child = startCli(
    'run',
    ...flags,
    flags.length > 0 ? command : `touch ${quote(ready)}; ${command}`,
  );
  await eventually(() => readFileSync(ready));
  // Nobody reads what it prints.
  await new Promise((resolve) => setTimeout(resolve, 500));
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(143);
});

test.each([
  ['kill -9 $$', 137],
  ['exit 300', 44],
  ['no-such-command 2>/dev/null', 127],
])('%s exits with %d', async (command, code) => {
  expect((await cli('run', command)).code).toBe(code);
});

test('a timeout ends the command with 124 and a note', async () => {
  const { code, stdout, stderr } = await cli('run', '--timeout', '0.5', 'echo a; sleep 30');
  expect(code).toBe(124);
  expect(stdout.toString()).toBe('a\n');
  expect(stderr).toBe('forkline: timed out after 0.5 seconds\n');
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends the command and exits with %d', async (signal, code) => {
  const child = startCli('run', 'echo $$; exec sleep 30');
  const end = endOf(child);
  const pid = await new Promise<number>((resolve) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(Number(chunk)));
  });
  child.kill(signal);
  expect((await end).code).toBe(code);
  expect(isGone(pid)).toBe(true);
});

test('a reader that goes away ends the command quietly', async () => {
  const child = startCli('run', 'yes');
  child.stdout?.once('data', () => child.stdout?.destroy());
  const { code, stderr } = await endOf(child);
  expect(code).toBe(141);
  expect(stderr).toBe('');
});

test('processes that the command leaves running are reported, and ended', async () => {
  const { code, stdout, stderr } = await cli('run', 'sleep 300 & echo $!');
  expect(code).toBe(0);
  const pid = Number(stdout);
  expect(stderr).toBe(`forkline: ending what it left running: ${pid} (sleep 300)\n`);
  expect(isGone(pid)).toBe(true);
});

test('--cwd and --env are for the command', async () => {
  const { stdout } = await cli(
    ...['run', '--cwd', '/', '--env', 'A=1', '--env', 'B=x=y'],
    'echo $PWD $A $B',
  );
  expect(stdout.toString()).toBe('/ 1 x=y\n');
});

test('E2: --max-output prints whole lines of both ends, a mark between, and a note on stderr', async () => {
  const { stdout, stderr } = await cli('run', '--max-output', '30', 'seq 100 1000');
  expect(stdout.toString()).toBe(
    '100\n101\n102\n103\n[… 3,576 bytes not shown …]\n998\n999\n1000\n',
  );
  expect(stderr).toBe('forkline: 3576 bytes in the middle of the output are not shown\n');
});

test('--spill writes all of the output to a file', async () => {
  const path = folder.file('spill');
  const { stdout } = await cli('run', '--spill', path, '--max-output', '10', 'seq 1 1000');
  expect(stdout.toString()).toMatch(/^1\n2\n3\n\[… .* …\]\n?.*00\n$/);
  expect(readFileSync(path).length).toBe(3893);
});

test('a spill file that cannot be written is noted, and the command runs', async () => {
  const path = folder.file('none/spill');
  const { code, stdout, stderr } = await cli('run', '--spill', path, 'echo hi');
  expect(code).toBe(0);
  expect(stdout.toString()).toBe('hi\n');
  expect(stderr).toContain(`forkline: cannot write the output to ${path}: `);
});

test('--json prints the result and nothing else, on one line', async () => {
  const { code, stdout, stderr } = await cli('run', '--json', 'echo hi; exit 3');
  expect(code).toBe(3);
  expect(stderr).toBe('');
  expect(stdout.toString()).toMatch(/^[^\n]*\n$/);
  expect(JSON.parse(stdout.toString())).toMatchObject({
    command: 'echo hi; exit 3',
    outcome: { kind: 'exited', exitCode: 3 },
    output: { kind: 'complete', text: 'hi\n', total: { bytes: 3, characters: 3, lines: 1 } },
    background: [],
  });
});

test('--json keeps the two ends that --max-output allows', async () => {
  const { stdout } = await cli('run', '--json', '--max-output', '11', 'seq 1 1000');
  expect(JSON.parse(stdout.toString())).toMatchObject({
    output: { kind: 'cut', head: '1\n2\n3', tail: '\n1000\n', total: { bytes: 3893 } },
  });
});

test.each([
  [['run']],
  [['run', 'a', 'b']],
  [['run', '--timeout', 'x', 'true']],
  [['run', '--env', 'x', 'true']],
  [['run', '--nonsense', 'true']],
  [['run', ' ']],
  [['nonsense']],
])('%j is a usage error', async (args) => {
  const { code, stdout, stderr } = await cli(...args);
  expect(code).toBe(2);
  expect(stdout.toString()).toBe('');
  expect(stderr).not.toBe('');
});

test('a directory that is not there is a launch failure', async () => {
  const { code, stdout, stderr } = await cli('run', '--cwd', '/no/such/directory', 'true');
  expect(code).toBe(126);
  expect(stdout.toString()).toBe('');
  expect(stderr).toMatch(/^forkline: .*\/no\/such\/directory/);
});

test('help and version are no errors', async () => {
  const help = await cli('run', '--help');
  expect(help.code).toBe(0);
  expect(help.stdout.toString()).toContain('--max-output <bytes>');
  const version = await cli('--version');
  expect(version.code).toBe(0);
  expect(version.stdout.toString()).toMatch(/^\d+\.\d+\.\d+/);
});
