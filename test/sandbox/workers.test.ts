import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { makeScene, people, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

test('each thread serves its own sandboxes, whichever thread was first, or has ended', async () => {
  const server = createServer((_, answer) => answer.end('reached'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const { work } = makeScene(scenes.path, people[0]);
  const answers = await runHost<unknown[]>('sandbox-workers', { args: [String(port), work] });
  const refused = 'the sandbox does not let commands connect to example.com\n';
  const answer = { text: `reached${refused}`, denied: ['example.com'] };
  expect(answers).toEqual([answer, answer, answer, answer]);
});
