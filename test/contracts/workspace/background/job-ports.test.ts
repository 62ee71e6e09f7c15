import { expect, test } from 'vitest';
import { leavesNothingBehind } from '../../../support/leftovers.js';
import { useJobTools } from '../../../support/tasks.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();
const makeTool = useJobTools();

test('T3: polled for a port, a job that has ended and left a daemon is waited for', async () => {
  const { bash, job } = makeTool();
  const server = 'exec python3 -u -m http.server 0 --bind 127.0.0.1';
  await bash.execute({ command: `echo up; (sleep .7; ${server}) >/dev/null 2>&1 &`, async: true });
  const task = bash.tasks?.get('bg_1');
  await task?.wait({});
  const begun = performance.now();
  expect(textOf(await job({ poll: ['bg_1'], port: 1, seconds: 0.4 }))).toMatch(
    /^Job bg_1 ended .*\nup\n.*\n\nNothing of that has happened within 0\.4 seconds\.$/s,
  );
  expect(performance.now() - begun).toBeGreaterThan(350);
  const awaited = await task?.wait({ port: true });
  const port = awaited?.kind === 'listening' ? awaited.port : 0;
  expect(textOf(await job({ poll: ['bg_1'], port }))).toMatch(
    new RegExp(
      `delivered before\\.[\\s\\S]*\n\nIt listens on port ${port} \\(127\\.0\\.0\\.1\\)\\.$`,
    ),
  );
  // Without a port there is nothing to wait for, and nothing is said of a time.
  expect(textOf(await job({ poll: ['bg_1'], line: 'x' }))).not.toContain('Nothing of that');
  await job({ cancel: ['bg_1'] });
});
