import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { CONTRACT_NAMES } from '../../src/index.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually, openDescriptors } from '../support/processes.js';

leavesNothingBehind();

const under = ['sh', '-c', 'ulimit -n 80; exec "$@"', 'sh'];

async function answersOf(kind: 'told' | 'untold' | 'unmade' | 'fleet') {
  const host = startHost('late-libraries', { under, args: [kind] });
  const answers = await host.next<Record<'starved' | 'fed', Record<string, unknown>>>();
  host.child.stdin?.end();
  await host.ended;
  return answers;
}

test('C5: a library that is needed when there are no descriptors is loaded when there are', async () => {
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

test('C5: what a tool will need is loaded when the tool is made', async () => {
  const { starved, fed } = await answersOf('told');
  expect(starved).toMatchObject({ urls: { kind: 'launch' }, interceptor: { kind: 'blocked' } });
  expect(JSON.stringify(starved.urls)).not.toContain('parser');
  expect(fed).toMatchObject({
    urls: expect.stringMatching(/^\/x\n/),
    interceptor: { kind: 'blocked' },
  });
});

test('C5: a tool that cannot be made for want of descriptors can be made when there are some', async () => {
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

test('L9: workers that end while their first tool is called leave no descriptor', async () => {
  const entry = new URL('../../dist/index.js', import.meta.url);
  const code = `
    import(${JSON.stringify(entry.href)}).then(({ createBashTool }) => {
      const { parentPort } = require('node:worker_threads');
      parentPort.postMessage('loaded');
      for (const contract of ['workspace', 'modes', 'session', 'plain']) {
        createBashTool({ contract, cwd: '/' }).execute({ command: 'true' }).catch(() => {});
      }
    });`;
  const end = async (afterMs: number) => {
    const worker = new Worker(code, { eval: true });
    await once(worker, 'message');
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await worker.terminate();
  };
  await end(50);
  const before = openDescriptors().length;
  for (let afterMs = 0; afterMs < 10; afterMs += 1) await Promise.all([end(afterMs), end(afterMs)]);
  await eventually(() => expect(openDescriptors().length).toBeLessThanOrEqual(before));
});
