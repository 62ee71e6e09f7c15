// A suite of the benchmarks that cannot measure, or fails: what is said, and what is left.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endOf } from '../support/cli.js';
import { root } from '../support/house.js';
import { useFolders } from '../support/leftovers.js';
import { installed, where } from '../support/needs.js';
import { eventually, lives } from '../support/processes.js';

const folders = useFolders();
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** Builds the floor if it has to, so each needs its tools, and on a busy machine more than the usual minute. */
const BUILDS = [installed('cmake'), installed('c++')];
const options = { tags: ['slow'], timeout: 300_000, ...where(...BUILDS) };

/** Runs suites, quickly, with programs from these folders alone. */
function bench(path: readonly string[], ...suites: readonly string[]) {
  const latest = join(root, 'bench/results/latest.json');
  const before = existsSync(latest) ? readFileSync(latest) : undefined;
  const env = { ...process.env, PATH: path.join(':') };
  const args = [join(root, 'bench/run.mjs'), ...suites, '--quick'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  return endOf(child).finally(() => {
    if (before !== undefined) writeFileSync(latest, before);
  });
}

/** Folders of programs in which no broker is. */
function withoutBroker(): string[] {
  const folders = (process.env.PATH ?? '').split(':');
  return folders.filter((folder) => !existsSync(join(folder, 'nats-server')));
}

test(
  'I16: without nats-server its suite is not measured, and says what is needed',
  options,
  async () => {
    const { code, stdout } = await bench(withoutBroker(), 'p17');
    expect(stdout.toString()).toMatch(
      /^p17 +not measured: nats-server is not installed \(.*package/m,
    );
    expect(stdout.toString()).toMatch(/^Not measured: p17\.$/m);
    expect(stdout.toString()).not.toContain('FAILED');
    expect(code).toBe(0);
  },
);

test('U14: a suite that fails ends, with all that it has started', options, async () => {
  const folder = folders();
  const file = join(folder, 'pid');
  const broker = `#!/bin/sh\nsetsid sleep 1000 </dev/null >/dev/null 2>&1 &\necho $! >${file}\nexit 3\n`;
  writeFileSync(join(folder, 'nats-server'), broker, { mode: 0o755 });
  const { code, stdout } = await bench([folder, ...withoutBroker()], 'p17');
  expect(stdout.toString()).toMatch(/^p17 +FAILED: it ended with 3/m);
  expect(code).toBe(1);
  const pid = Number(readFileSync(file, 'utf8'));
  await eventually(() => expect(lives(pid)).toBe(false));
});

test("U14: another program's zombie of the same name keeps no suite waiting", options, async () => {
  // Its child has ended as `sleep`, and is never waited for.
  const text = 'sleep 0 & exec tail -f /dev/null';
  const parent = spawn('bash', ['-c', text], { stdio: 'ignore' });
  started.push(parent);
  await eventually(() => {
    const children = `/proc/${parent.pid}/task/${parent.pid}/children`;
    const [zombie = ''] = readFileSync(children, 'utf8').trim().split(' ');
    expect(readFileSync(`/proc/${zombie}/stat`, 'utf8')).toMatch(/\(sleep\) Z/);
  });
  const { code, stdout } = await bench((process.env.PATH ?? '').split(':'), 'p10');
  expect(stdout.toString()).toMatch(/^P10 +kill 100 processes/m);
  expect(stdout.toString()).not.toContain('FAILED');
  expect(code).toBe(0);
});
