import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { endingOf, outputOf, useBackground } from '../support/background.js';
import { answerOf, type RawServer, useRawServers } from '../support/mcp.js';
import { eventually } from '../support/processes.js';

const background = useBackground();
const start = useRawServers();

test.each<[string, (server: RawServer) => void]>([
  ['a client that goes away', ({ child }) => child.stdin?.end()],
  ['a server that is told to end', ({ child }) => void child.kill('SIGTERM')],
  ['a server that is killed', ({ child }) => void child.kill('SIGKILL')],
])('the background mode of modes outlives %s', async (how, end) => {
  const gone = background.folder.file(how.replaceAll(' ', '-'));
  const server = await start('--contract', 'modes');
  const command = `echo begun; until test -e ${gone}; do sleep 0.05; done; echo went on`;
  const { result = {} } = await server.request('tools/call', {
    name: 'bash',
    arguments: { command, mode: 'background' },
  });
  const task = background.note(answerOf(result));
  await eventually(() => expect(outputOf(task)).toBe('begun\n'));
  end(server);
  await server.ended;
  expect(existsSync(gone)).toBe(false);
  writeFileSync(gone, '');
  expect(await endingOf(task)).toBe('begun\nwent on\n\n\n[background process completed]\n');
});
