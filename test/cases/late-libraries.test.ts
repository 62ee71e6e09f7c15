import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CONTRACT_NAMES } from '../../src/index.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();

const under = ['sh', '-c', 'ulimit -n 80; exec "$@"', 'sh'];

async function answersOf(kind: 'told' | 'untold' | 'unmade' | 'fleet') {
  const host = startHost('late-libraries', { under, args: [kind] });
  const answers = await host.next<Record<'starved' | 'fed', Record<string, unknown>>>();
  host.child.stdin?.end();
  await host.ended;
  return answers;
}

test('C5: a library that is needed without free descriptors is loaded once there are some', async () => {
  const { starved, fed } = await answersOf('untold');
  expect(starved).toMatchObject({
    warm: { kind: 'launch', message: expect.stringContaining('EMFILE: ') },
    parser: {
      kind: 'launch',
      message:
        'Command could not be started: EMFILE: Too many open files: there are none left to load the shell parser with',
    },
    terminal: { name: 'LaunchError', code: 'EMFILE', subject: 'the terminal' },
  });
  expect(fed).toMatchObject({
    warm: expect.stringMatching(/^one\n/),
    parser: { kind: 'input', message: expect.stringContaining('local://') },
    terminal: 'one\n',
  });
});

test('C5: libraries that a tool will need are loaded when it is created', async () => {
  const { starved, fed } = await answersOf('told');
  expect(starved).toMatchObject({ urls: { kind: 'launch' }, interceptor: { kind: 'blocked' } });
  expect(JSON.stringify(starved.urls)).not.toContain('parser');
  expect(fed).toMatchObject({
    urls: expect.stringMatching(/^\/x\n/),
    interceptor: { kind: 'blocked' },
  });
});

test('C5: a tool that cannot be created without free descriptors can be created once there are some', async () => {
  const { starved, fed } = await answersOf('unmade');
  for (const contract of CONTRACT_NAMES) {
    expect(starved[contract]).toMatchObject({
      name: 'LaunchError',
      code: 'EMFILE',
      subject: 'the tool',
    });
    expect(JSON.stringify(fed[contract])).toContain('one');
  }
});

test('C5: the library of a broker is not taken for missing, and is loaded when it can be', async () => {
  const { starved, fed } = await answersOf('fleet');
  expect(starved.fleet).toMatchObject({
    name: 'LaunchError',
    code: 'EMFILE',
    subject: 'the library of the broker',
  });
  expect(fed.fleet).toMatchObject({
    message: "The broker at nats://127.0.0.1:1 can't be reached: connection refused",
  });
});

// Node 20 aborts the whole process, by a check of its own, where a worker is ended just as it requires an ES
// module, as parts of this package are: such a try shows nothing of descriptors, and another one is made.
const NODES_OWN = 'IsGraphAsync must be used on an instantiated module';

test('L9: workers that end while their first tool is called leave no descriptor', async () => {
  const host = fileURLToPath(new URL('../support/hosts/ending-workers.mjs', import.meta.url));
  let ended = spawnSync(process.execPath, [host], { encoding: 'utf8' });
  for (let tries = 1; tries < 5 && ended.stderr.includes(NODES_OWN); tries += 1) {
    ended = spawnSync(process.execPath, [host], { encoding: 'utf8' });
  }
  expect(ended).toMatchObject({ status: 0, stderr: '' });
  const { before, after } = JSON.parse(ended.stdout);
  expect(after).toBeLessThanOrEqual(before);
});
