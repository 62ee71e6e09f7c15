import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import type { OutOfMemory } from '../../src/index.js';
import { type Host, namespaces, startHost } from '../support/hosts.js';
import { root } from '../support/house.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { failureOf } from '../support/results.js';

const execute = promisify(execFile);
leavesNothingBehind();
const hosts: Host[] = [];
afterEach(async () => {
  for (const { child, ended } of hosts.splice(0)) {
    child.stdin?.end();
    await ended;
  }
});

/** The arguments that start a program which sees faked control groups in place of the machine's. */
function seeing(groups: string): string[] {
  const mount = `
    mount -t tmpfs none /sys/fs/cgroup && mkdir -p /sys/fs/cgroup/memory/own /sys/fs/cgroup/own &&
    printf '${groups}' >/sys/fs/cgroup/self &&
    mount --bind /sys/fs/cgroup/self /proc/$$/cgroup && exec "$@"`;
  return [...namespaces('-m'), 'sh', '-c', mount, 'sh'];
}

function hostIn(groups: string): Host {
  const host = startHost('commands', { under: seeing(groups) });
  hosts.push(host);
  return host;
}

async function memoryOf(host: Host, command: string): Promise<OutOfMemory | undefined> {
  return (await host.run(command)).result?.outOfMemory;
}

/** Writes a count of out-of-memory kills into the control group, then kills itself. */
const counting = (file: string, kills: number, end = 'kill -9 $$') =>
  `printf 'oom 1\\noom_kill ${kills}\\n' >/sys/fs/cgroup/${file}; ${end}`;

test.each([
  ['version 2', '0::/own\\n', 'own/memory.events'],
  ['version 2, seen from inside', '0::/machine/box\\n', 'memory.events'],
  ['version 1', '9:cpu,memory:/own\\n0::/\\n', 'memory/own/memory.oom_control'],
  ['version 1, seen from inside', '4:memory:/docker/1\\n', 'memory/memory.oom_control'],
])(
  'a command ended by SIGKILL was likely out of memory if its control group counts a kill: %s',
  async (_, groups, file) => {
    const host = hostIn(groups);
    expect(await memoryOf(host, counting(file, 0))).toBe('no');
    expect(await memoryOf(host, counting(file, 1))).toBe('likely');
    expect(await memoryOf(host, counting(file, 1))).toBe('no');
    expect(await memoryOf(host, counting(file, 3, "sh -c 'kill -9 $$'; exit $?"))).toBe('likely');
    expect(await memoryOf(host, counting(file, 4, 'kill -15 $$'))).toBeUndefined();
    expect(await memoryOf(host, counting(file, 5, 'exit 1'))).toBeUndefined();
  },
);

test('without a control group that counts kills, it is unknown whether memory ran out', async () => {
  const host = hostIn('0::/own\\n');
  expect(await memoryOf(host, 'kill -9 $$')).toBe('unknown');
});

test('a command ended by its deadline does not count as out of memory', async () => {
  const host = hostIn('0::/own\\n');
  const command = `trap '' TERM; ${counting('memory.events', 7, 'sleep 30 & wait; sleep 30')}`;
  const { result } = await host.run(command, { timeoutMs: 100, graceMs: 100 });
  expect(result?.outcome).toMatchObject({ kind: 'timedOut', forced: true });
  expect(result?.outOfMemory).toBeUndefined();
});

test('a line for people and models says that memory probably ran out', async () => {
  const [program = '', ...under] = seeing('0::/own\\n');
  const command = counting('memory.events', 1);
  const started = (...args: string[]) => execute(program, [...under, process.execPath, ...args]);
  const failed = await failureOf(started(join(root, 'dist/cli.js'), 'run', command));
  expect(failed).toMatchObject({
    code: 137,
    stderr: expect.stringMatching(/^forkline: probably out of memory: /m),
  });
  const script = `
    import { createBashTool } from '${join(root, 'dist/index.js')}';
    const tool = createBashTool({ contract: 'session', cwd: '/' });
    const { content } = await tool.execute({ command: process.argv[1] });
    console.log(content[0].text);
    await tool.dispose();`;
  const { stdout } = await started('--input-type=module', '-e', script, command);
  expect(stdout).toMatch(/^Out of memory, probably: .*\n\nKilled by SIGKILL\.$/m);
});
