import { spawn as spawnChild } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createBashTool, run, spawn, type TimeoutReason } from '../../src/index.js';
import { quote } from '../support/commands.js';
import { untilState, useTasks } from '../support/detached-tasks.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { failureOf } from '../support/results.js';
import { textOf } from '../support/tool.js';

// W12: a timeout says why, as one look before the end shows.
leavesNothingBehind(2);
const folder = useFolder();
const tasks = useTasks();

const LIMITS = { timeoutMs: 2000, graceMs: 1000 };
type Options = NonNullable<Parameters<typeof run>[1]>;

/** What kept a command from ending in time. */
async function reasonFor(
  command: string,
  options: Options = {},
): Promise<TimeoutReason | undefined> {
  const { outcome } = await run(command, { ...LIMITS, ...options });
  if (outcome.kind !== 'timedOut') throw new Error(`not a timeout: ${outcome.kind}`);
  return outcome.reason;
}

const python = (text: string): string => `python3 -c ${quote(text)}`;
const SERVER = python(
  'import socket, time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); time.sleep(600)',
);
const TAKES_LOCK = 'f = open("a lock", "w"); fcntl.lockf(f, fcntl.LOCK_EX)';
const BUSY = 'while :; do :; done';

const holders = new Set<() => void>();
afterEach(() => {
  for (const release of holders) release();
  holders.clear();
});

/** Starts a process that takes a lock in the folder and keeps it. Returns its pid. */
async function hold(program: string, ...args: string[]): Promise<number> {
  const child = spawnChild(program, args, {
    cwd: folder.path,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  holders.add(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}

/** The same by a shell, which is handed the lock by a program that ends. */
const holdFile = () => hold('bash', '-c', 'exec 9>>"a lock"; flock 9; echo held; exec sleep 600');

let kernelShows = false;
beforeAll(async () => {
  // Some containers show system calls of no process.
  kernelShows = (await reasonFor('read -r x', { pty: true })) !== undefined;
});

describe('W12: a timeout tells of', () => {
  test.for([
    ['cat', 'cat'],
    ['a shell that reads', 'read -r x'],
    ['a prompt in Python', python('input("Name? ")')],
    ['a program in node', `node -e ${quote('process.stdin.on("data", () => {})')}`],
    ['a menu that waits with select()', python('import select; select.select([0], [], [], 600)')],
    ['a program that reads /dev/tty', 'read -r x </dev/tty'],
  ])('%s that waits for keys of a terminal', async ([, command = ''], context) => {
    if (!kernelShows) context.skip();
    expect(await reasonFor(command, { pty: true })).toMatchObject({ kind: 'terminal' });
  });

  test('the command line of what waits, or the text of the command for its shell', async (context) => {
    if (!kernelShows) context.skip();
    const pid = expect.any(Number);
    expect(await reasonFor('read -r x', { pty: true })).toEqual({
      kind: 'terminal',
      pid,
      command: 'read -r x',
    });
    expect(await reasonFor('true; cat; true', { pty: true })).toEqual({
      kind: 'terminal',
      pid,
      command: 'cat',
    });
  });

  test('a wait for stdin that is open and empty', async (context) => {
    if (!kernelShows) context.skip();
    const child = await spawn('true; cat; true', { ...LIMITS, stdin: 'pipe' });
    const { outcome } = await child.result;
    expect(outcome).toMatchObject({ reason: { kind: 'stdin', command: 'cat' } });
  });

  test('no wait for stdin where a member writes, or where it has ended', async () => {
    expect(await reasonFor('(sleep 600) | cat')).toBeUndefined();
    expect(await reasonFor('cat; sleep 600')).toBeUndefined();
  });

  test.for([
    ['flock', () => holdFile(), 'flock "a lock" true'],
    [
      'fcntl',
      () =>
        hold(
          'python3',
          '-c',
          `import fcntl, time; ${TAKES_LOCK}; print("held", flush=True); time.sleep(600)`,
        ),
      python(`import fcntl; ${TAKES_LOCK}`),
    ],
  ] as const)(
    'a wait for a lock by %s, with file and holder',
    async ([, holding, command], context) => {
      if (!kernelShows) context.skip();
      const pid = await holding();
      expect(await reasonFor(command, { cwd: folder.path })).toMatchObject({
        kind: 'lock',
        path: folder.file('a lock'),
        holder: { pid, command: expect.stringMatching(/sleep 600|time\.sleep|fcntl/) },
      });
    },
  );

  test('a process that was stopped', async () => {
    expect(await reasonFor('kill -STOP $$; true')).toMatchObject({ kind: 'stopped' });
    const other = `bash -c 'kill -STOP $$; true' & wait`;
    expect(await reasonFor(other)).toMatchObject({ kind: 'stopped' });
  });

  test('programs that never end by themselves', async () => {
    const command = `tail -f ${quote(folder.file('a lock'))}`;
    expect(await reasonFor(`touch ${quote(folder.file('a lock'))}; ${command}`)).toEqual({
      kind: 'endless',
      pid: expect.any(Number),
      command: `tail -f ${folder.file('a lock')}`,
    });
  });

  test('a process that computes, and how long it has', async () => {
    const options = { timeoutMs: 4000 };
    const reason = await reasonFor(`${BUSY} | tail -1`, options);
    expect(reason).toMatchObject({ kind: 'cpu', cpuMs: expect.any(Number) });
  });

  test('a server that listens, with its ports', async () => {
    expect(await reasonFor(`true; ${SERVER}; true`)).toMatchObject({
      kind: 'listening',
      ports: [expect.any(Number)],
    });
    expect(await reasonFor(`${SERVER} | cat`)).toMatchObject({ kind: 'listening' });
  });

  test('no server where something else is waited for', async () => {
    expect(await reasonFor(`${SERVER} & sleep 600`)).toBeUndefined();
  });

  test('nothing where nothing was seen, and nothing at a cancellation', async () => {
    expect(await reasonFor('sleep 600')).toBeUndefined();
    const { outcome } = await run(BUSY, { signal: AbortSignal.timeout(1500), graceMs: 1000 });
    expect(outcome).toMatchObject({ kind: 'cancelled' });
    expect(outcome).not.toHaveProperty('reason');
  });
});

describe('W12: the reason is told', () => {
  test('of a command in a sandbox', async () => {
    const options = { cwd: folder.path, sandbox: 'workspace-write' } as const;
    expect(await reasonFor('kill -STOP $$; true', options)).toMatchObject({ kind: 'stopped' });
    expect(await reasonFor(SERVER, options)).toMatchObject({ kind: 'listening' });
  });

  test('without a grace', async () => {
    expect(await reasonFor('kill -STOP $$; true', { graceMs: 0 })).toMatchObject({
      kind: 'stopped',
    });
  });

  test('of a detached command, in its receipt', async () => {
    const subject = await tasks.start(`true; ${SERVER}; true`, LIMITS);
    await untilState(subject, 'ended');
    const { state } = subject;
    expect(state.kind === 'ended' && state.receipt?.outcome).toMatchObject({
      reason: { kind: 'listening' },
    });
  });

  test('of a call in a persistent shell', async () => {
    const tool = createBashTool({ contract: 'session', cwd: folder.path, persistent: true });
    const answer = await tool.execute({ command: SERVER, timeout: 2000 });
    expect(textOf(answer)).toMatch(/^Command timed out after 2 seconds$/m);
    expect(textOf(answer)).toContain('a server does not end by itself.');
    await tool.dispose();
  });
});

test('W12: the interaction log tells it', async () => {
  const log = folder.file('a log');
  const tool = createBashTool({ contract: 'workspace', cwd: folder.path, log });
  await failureOf(tool.execute({ command: 'kill -STOP $$; true', timeout: 2 }));
  await tool.dispose();
  expect(readFileSync(log, 'utf8')).toMatch(/after 2 seconds: \d+ \(kill .*\) was stopped/);
});

test('W12: processes of a namespace of their own have the ids that the host knows', async () => {
  const sandbox = { mode: 'workspace-write', processes: 'own' } as const;
  const options = { cwd: folder.path, sandbox };
  const reason = await reasonFor(`${SERVER} | cat`, options);
  expect(reason).toMatchObject({ kind: 'listening' });
  expect(reason?.pid).toBeGreaterThan(100);
});

const SERVES = /\d+ \(.*\) listened on port \d+: a server does not end by itself\. /.source;
const STOPPED =
  /\d+ \(.*\) was stopped, as by SIGSTOP or by using a terminal from the background\. /.source;

describe('W12: the advice is possible with the tool', () => {
  const stop = { command: 'kill -STOP $$; true' };

  test('workspace', async () => {
    const timeout = { default: 2, min: 1, max: 60 };
    const plain = createBashTool({ contract: 'workspace', cwd: folder.path, timeout });
    const tells = (input: object, tool = plain) =>
      tool.execute(input).then(textOf, (error: Error) => error.message);
    const byShell = 'Start it with `&` at its end and its output in a file.';
    expect(await tells({ command: SERVER })).toMatch(RegExp(`${SERVES}${byShell}$`));
    expect(await tells(stop)).toMatch(RegExp(`${STOPPED}More time does not help\\.$`));
    expect(await tells({ command: BUSY, timeout: 4 })).toMatch(
      /was computing, for \d+\.\d seconds so far\. For more time, pass a larger `timeout` \(at most 60\)\.$/,
    );
    await plain.dispose();
    const more = createBashTool({ contract: 'workspace', cwd: folder.path, timeout, async: true });
    const byTool = 'Start it with `async: true`.';
    expect(await tells({ command: SERVER }, more)).toMatch(RegExp(`${SERVES}${byTool}$`));
    await more.dispose();
  });

  test('session', async () => {
    const tool = createBashTool({ contract: 'session', cwd: folder.path });
    const tells = async (command: string) => textOf(await tool.execute({ command, timeout: 2000 }));
    const killed = 'It was killed. ';
    const byTool = 'Start it with `run_in_background: true`.';
    expect(await tells(SERVER)).toMatch(RegExp(`${killed}${SERVES}${byTool}$`));
    expect(await tells(stop.command)).toMatch(
      RegExp(`${killed}${STOPPED}More time does not help\\.$`),
    );
    await tool.dispose();
  });

  test('modes', async () => {
    const timeouts = { default: 2, slow: 60, background: 60 };
    const tool = createBashTool({ contract: 'modes', cwd: folder.path, timeouts });
    const tells = async (command: string) => textOf(await tool.execute({ command }));
    expect(await tells(SERVER)).toMatch(
      RegExp(`\\[${SERVES}Start it with mode="background"\\.\\]$`),
    );
    expect(await tells(stop.command)).toMatch(
      RegExp(`\\[${STOPPED}More time does not help\\.\\]$`),
    );
    await tool.dispose();
  });

  test('plain', async () => {
    const tool = createBashTool({ contract: 'plain', cwd: folder.path, timeout: 2 });
    const tells = async (command: string) =>
      JSON.parse(textOf(await tool.execute({ command }))).error;
    const byShell = 'Start it with `&` at its end and its output in a file.';
    expect(await tells(SERVER)).toMatch(RegExp(`${SERVES}${byShell}$`));
    expect(await tells(stop.command)).toMatch(RegExp(`${STOPPED}More time does not help\\.$`));
    await tool.dispose();
  });
});
