import { expect, test } from 'vitest';
import { LocalMachine } from '../../../src/adapters/local-machine/machine.js';
import { createBashTool, run, runInConsole, spawn } from '../../../src/index.js';
import { connect } from '../../../src/remote/index.js';
import { loose } from '../../options/ways.js';
import { endOf, startCli } from '../../support/cli.js';
import { FakeUi } from '../../support/console.js';
import { FAR_SIDE } from '../../support/far.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();

const notify = { ended: true };
const HINT =
  /^notify: not known here, a command whose watches are told is started by TaskManager\.start\(\) or detach\(\)$/;

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['run()', () => loose(run)('true', { notify }), HINT],
  ['spawn()', () => loose(spawn)('true', { notify }), HINT],
  [
    'runInConsole()',
    () => loose(runInConsole)('true', { ui: new FakeUi(), notify }),
    /^notify: not known here/,
  ],
  [
    'modes',
    async () => loose(createBashTool)({ contract: 'modes', cwd: '/', notify }),
    /^notify: not known here/,
  ],
  [
    'plain',
    async () => loose(createBashTool)({ contract: 'plain', cwd: '/', notify }),
    /^notify: not known here/,
  ],
  [
    'session, as an object',
    async () => loose(createBashTool)({ contract: 'session', cwd: '/', notify }),
    /^notify: expected true or false/,
  ],
  [
    'the local machine',
    () => loose(LocalMachine.open)({ root: folder.path, notify }),
    /notify: not known here/,
  ],
])('%s refuses it', async (_, start, message) => {
  const tried = (async () => start())();
  await expect(tried).rejects.toThrow(message);
});

test('a far side refuses it for run(), and the program knows no such flag', async () => {
  const far = await connect({ command: FAR_SIDE });
  await expect(loose(far.run.bind(far))('true', { notify })).rejects.toThrow(
    /^notify: not known here/,
  );
  await far.dispose();
  const { stderr, code } = await endOf(startCli('run', '--detach', '--notify', 'ended', 'true'));
  expect(stderr).toMatch(/unknown option '--notify'/);
  expect(code).toBe(2);
});
