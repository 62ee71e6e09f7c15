import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cli, endOf, program } from '../support/cli.js';
import { namespaces } from '../support/hosts.js';
import { useFolder } from '../support/leftovers.js';

const folder = useFolder();

/** The command line with another environment, or as the child of a shell that prepares something. */
function cliIn(env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const all = { ...process.env, ...env };
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  // One that hangs does not outlive its test.
  const bound = { timeout: 60_000, killSignal: 'SIGKILL' } as const;
  return endOf(
    spawn(process.execPath, [program, ...args], { env: all, stdio: [...stdio], ...bound }),
  );
}

interface Report {
  readonly canRun: boolean;
  readonly findings: readonly { name: string; status: string; found: string; cost?: string }[];
}

async function reportIn(env: NodeJS.ProcessEnv) {
  const { code, stdout, stderr } = await cliIn(env, 'doctor', '--json');
  expect(stderr).toBe('');
  const { canRun, findings }: Report = JSON.parse(stdout.toString());
  return { code, canRun, of: new Map(findings.map((each) => [each.name, each])) };
}

test('doctor prints its findings, and exits with 0 where commands can run', async () => {
  const { code, canRun, of } = await reportIn({});
  expect({ code, canRun }).toEqual({ code: 0, canRun: true });
  expect(of.get('Node')).toEqual({ name: 'Node', status: 'ok', found: process.version });
  expect(of.get('addon')?.found).toMatch(/^forkline \d+\.\d+\.\d+, \/.*\.node$/);
  expect(of.get('commands')?.found).toMatch(/^one ran in \d+ ms, by bash/);
  expect([...of.keys()]).toEqual(
    expect.arrayContaining(['/proc', 'other users', 'seccomp', 'descriptors', '/dev/null']),
  );
});

test('doctor tells whether processes have handles, which the keeper has, and not the host', async () => {
  expect((await reportIn({})).of.get('pidfd')).toMatchObject({ status: 'ok', found: 'in use' });
});

test('doctor takes for limited what it cannot see without /proc', async () => {
  const under = namespaces('-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh');
  const [unshare = '', ...before] = under;
  const child = spawn(unshare, [...before, process.execPath, program, 'doctor', '--json']);
  const { stdout, code } = await endOf(child);
  const { findings }: Report = JSON.parse(stdout.toString());
  const unseen = findings.filter(({ found }) => found === 'not visible, without /proc');
  expect(unseen.map(({ name, status }) => [name, status])).toEqual([
    ['other users', 'limited'],
    ['seccomp', 'limited'],
    ['descriptors', 'limited'],
  ]);
  expect(code).toBe(0);
});

test.each([
  { HOME: '/proc', XDG_STATE_HOME: '' },
  { XDG_STATE_HOME: '/proc/x' },
  { XDG_STATE_HOME: '/sys/x/y' },
])('with %j, where no directory can be made, doctor says so, and commands run', async (env) => {
  const { code, of } = await reportIn(env);
  expect(code).toBe(0);
  expect(of.get('detached tasks')).toMatchObject({
    status: 'limited',
    found: expect.stringMatching(/^\/(proc|sys) is (on a (proc|sysfs) file system|user 0's)$/),
  });
  expect(of.get('sandbox')).toMatchObject({ status: 'ok' });
  const ran = await cliIn(env, 'run', '--sandbox', 'workspace-write', '--no-input', 'echo hi');
  expect([ran.code, ran.stdout.toString()]).toEqual([0, 'hi\n']);
});

test('doctor tells which engine runs the commands, and what the portable one cannot keep', async () => {
  expect((await reportIn({})).of.get('engine')).toMatchObject({ status: 'ok', found: 'native' });
  const { code, of } = await reportIn({ FORKLINE_ENGINE: 'portable' });
  expect(code).toBe(0);
  expect(of.get('engine')).toMatchObject({
    status: 'limited',
    found: expect.stringMatching(/^portable, forkline /),
  });
  expect(of.get('leftovers')).toMatchObject({ status: 'limited' });
  expect(of.has('addon')).toBe(false);
});

test('doctor exits with 1 where FORKLINE_ENGINE names no engine, and says which there are', async () => {
  const { code, of } = await reportIn({ FORKLINE_ENGINE: 'fast' });
  expect(code).toBe(1);
  expect(of.get('commands')?.found).toBe(
    `FORKLINE_ENGINE: expected 'native' or 'portable', got "fast"`,
  );
});

test('doctor says what a missing temporary directory costs', async () => {
  const { code, of } = await reportIn({ TMPDIR: '/no/such/directory' });
  expect(code).toBe(0);
  expect(of.get('temporary directory')).toMatchObject({
    status: 'limited',
    found: expect.stringContaining('/no/such/directory'),
    cost: expect.stringContaining('cannot be kept'),
  });
});

test('T6: doctor says where the records of detached tasks are, and why not in the home', async () => {
  const state = folder.file('state');
  const { of } = await reportIn({ XDG_STATE_HOME: state });
  expect(of.get('detached tasks')).toMatchObject({ status: 'ok', found: `${state}/forkline` });
  const { code, of: without } = await reportIn({ XDG_STATE_HOME: '', HOME: '/no/such/home' });
  expect(code).toBe(0);
  expect(without.get('detached tasks')).toMatchObject({
    status: 'limited',
    found: '/no/such/home: no such directory',
    cost: expect.stringContaining('the same TMPDIR'),
  });
  // The sandbox that doctor tries has made no home.
  expect(existsSync('/no/such/home')).toBe(false);
});

test('doctor exits with 1 where no command can run, and says why', async () => {
  const env = { FORKLINE_BINDING: '/no/such/file.node' };
  const { code, canRun, of } = await reportIn(env);
  expect({ code, canRun }).toEqual({ code: 1, canRun: false });
  expect(of.get('addon')).toMatchObject({ status: 'failed' });
  expect(of.get('commands')?.found).toContain('/no/such/file.node');
  const { stdout } = await cliIn(env, 'doctor');
  expect(stdout.toString()).toMatch(/^FAILED {2}commands: .*\n {8}no command can run\n/m);
});

test('doctor prints a line for each finding', async () => {
  const { code, stdout, stderr } = await cli('doctor');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.toString()).toMatch(/^(?:(?:ok {5}|limited|FAILED ) \S.*\n| {8}\S.*\n)+$/);
});

test.each([
  [['run', 'true'], 126, ''],
  [['run', '--json', 'true'], 126, '"kind":"addon"'],
  [['mcp'], 1, ''],
])('E10: without a binary, %j says so in one line', async (args, code, printed) => {
  const end = await cliIn({ FORKLINE_BINDING: '/no/such/file.node' }, ...args);
  expect(end.code).toBe(code);
  expect(end.stdout.toString()).toContain(printed);
  expect(end.stderr).toBe(
    'forkline: FORKLINE_BINDING names a file that does not exist: /no/such/file.node\n',
  );
});

test('E10: a binary that does not load is reported in one line, too', async () => {
  const path = folder.file('broken.node');
  writeFileSync(path, 'no library');
  const end = await cliIn({ FORKLINE_BINDING: path }, 'run', 'true');
  expect(end.code).toBe(126);
  expect(end.stderr).toMatch(/^forkline: .*broken\.node.*\n$/);
});
