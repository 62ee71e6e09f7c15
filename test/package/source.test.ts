import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bareMachine, execute, type Machine, packEverything } from './machine.js';

const nodeGyp = fileURLToPath(new URL('../../node_modules/.bin/node-gyp', import.meta.url));
const prefix = dirname(dirname(process.execPath));
// Node's own headers where it has them; node-gyp would download the same.
const headers = existsSync(join(prefix, 'include/node/node.h')) ? [`--nodedir=${prefix}`] : [];
// What is tested is that the sources are complete, not what the optimiser makes of them.
const quick = { CARGO_PROFILE_RELEASE_OPT_LEVEL: '0', CARGO_PROFILE_RELEASE_LTO: 'off' };

let machine: Machine;
let installed: string;

beforeAll(async () => {
  machine = bareMachine();
  const { main, dependencies } = packEverything(machine.directory('tarballs'));
  const project = machine.directory('project');
  await machine.run(project, ['npm', 'i', '--offline', main, ...dependencies]);
  installed = join(project, 'node_modules/forkline');
});

afterAll(() => machine.remove());

test('an installed package builds its own binaries by node-gyp and uses them', async () => {
  const env = { ...process.env, ...quick };
  const built = await execute(nodeGyp, ['rebuild', ...headers], { cwd: installed, env });
  expect(built.exitCode, built.stderr).toBe(0);

  const script = `require('forkline').run('echo hi').then((r) => console.log(r.output.text.trim()))`;
  const result = await machine.run(dirname(dirname(installed)), ['node', '-e', script]);
  expect(result).toMatchObject({ exitCode: 0, stdout: 'hi\n' });
  expect(existsSync(join(installed, 'native/prebuilt/forkline-keeper'))).toBe(true);
}, 600_000);
