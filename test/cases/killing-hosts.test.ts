import { expect, test } from 'vitest';
import { namespaces, runHost, startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { descriptors, where } from '../support/needs.js';
import { eventually, isGone, lives, processesOf } from '../support/processes.js';
import { exited, printed } from '../support/results.js';

// The cases of group B that need a host of their own.
leavesNothingBehind();

interface OrphanReport {
  readonly pid: number;
  readonly zombies: string[];
  readonly exitCodes: number[];
  readonly outcomes: string[];
}

const forNobodyElse = { exitCodes: [3, 4], outcomes: [JSON.stringify(exited(0))] };

test(
  "B9: the first process of a container reaps its commands' orphans and no child of Node's",
  where(descriptors(1024)),
  async () => {
    const under = namespaces('--pid', '--fork', '--kill-child', '--mount-proc');
    const report = await runHost<OrphanReport>('orphans', { under });
    expect(report).toEqual({ pid: 1, zombies: [], ...forNobodyElse });
  },
);

test('B9: a host that is a subreaper does so', where(descriptors(1024)), async () => {
  // PR_SET_CHILD_SUBREAPER, which stays through exec.
  const become =
    'import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1); os.execvp(sys.argv[1], sys.argv[1:])';
  const under = ['python3', '-c', become];
  const report = await runHost<OrphanReport>('orphans', { under });
  expect(report).toEqual({ pid: expect.any(Number), zombies: [], ...forNobodyElse });
});

const polite = 'setsid sleep 300 & echo ready; sleep 300';
const stubborn = `trap '' TERM; ${polite} & wait`;

test.each(['SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGHUP'] as const)(
  "B12: when %s kills the host, all its commands' processes end",
  async (signal) => {
    const host = startHost('ends', { args: [polite, stubborn] });
    await host.next();
    const pid = Number(host.child.pid);
    expect(processesOf(pid).length).toBeGreaterThanOrEqual(8);
    process.kill(pid, signal);
    expect(await host.ended).toEqual({ code: null, signal });
    await eventually(() => expect(processesOf(pid)).toEqual([]));
  },
);

test.each([
  ['process.exit()', 'exit', 0],
  ['an exception', 'throw', 1],
])('B12: a host that ends by %s ends its commands', async (_, how, code) => {
  const host = startHost('ends', { args: [polite, stubborn], stdio: ['pipe', 'pipe', 'ignore'] });
  await host.next();
  const pid = Number(host.child.pid);
  host.child.stdin?.write(`${how}\n`);
  expect(await host.ended).toEqual({ code, signal: null });
  await eventually(() => expect(processesOf(pid)).toEqual([]));
});

test('B12: a host with nothing else to do waits for its commands, and then ends', async () => {
  const host = startHost('ends', { args: ['echo ready; sleep 1'] });
  await host.next();
  const pid = Number(host.child.pid);
  host.child.stdin?.write('return\n');
  expect(await host.ended).toEqual({ code: 0, signal: null });
  await eventually(() => expect(processesOf(pid)).toEqual([]));
});

test('B13: a command that wants to be interactive does not stop a host on a terminal', async () => {
  const onATerminal = ['python3', '-c', 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)'];
  const requests = ["bash --norc -i -c 'echo hi'", 'cat </dev/tty', 'stty -a; read x; echo rc=$?'];
  const host = startHost('commands', {
    under: onATerminal,
    args: requests.map((command) => JSON.stringify({ command })),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [interactive, terminal, input] = [
    await host.next<Answer>(),
    await host.next<Answer>(),
    await host.next<Answer>(),
  ];
  expect(interactive.result.outcome).toEqual(exited(0));
  expect(printed(interactive.result)).toMatch(/hi\n$/);
  expect(terminal.result.outcome).toEqual(exited(1));
  expect(printed(terminal.result)).toContain('/dev/tty: No such device or address');
  expect(printed(input.result)).toMatch(/rc=1\n$/);
  expect(await host.ended).toEqual({ code: 0, signal: null });
});

type Answer = Required<Awaited<ReturnType<ReturnType<typeof startHost>['run']>>>;

interface WorkersReport {
  readonly answers: boolean[];
  readonly own: boolean;
  readonly pid: number;
}

test(
  'several worker threads run commands at once, and one that is terminated ends its own',
  where(descriptors(1024)),
  async () => {
    const host = startHost('workers');
    const { answers, own, pid } = await host.next<WorkersReport>();
    expect(answers).toEqual([true, true, true, true]);
    expect(own).toBe(true);
    await eventually(() => expect(isGone(pid)).toBe(true));
    await eventually(() => expect(processesOf(host.child.pid)).toEqual([]));
    expect(lives(Number(host.child.pid))).toBe(true);
    host.child.stdin?.end();
    expect(await host.ended).toEqual({ code: 0, signal: null });
  },
);
