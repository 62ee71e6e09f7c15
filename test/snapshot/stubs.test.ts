import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { run } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { printed } from '../support/results.js';
import { useSnapshots } from '../support/snapshots.js';

leavesNothingBehind();
const folder = useFolder();
const snapshotOf = useSnapshots(folder);

const dataFile = (name: string) =>
  readFileSync(new URL(`commands/${name}`, import.meta.url), 'utf8');
const commandsIn = (name: string) =>
  dataFile(name)
    .split(/^#.*\n/m)
    .filter((text) => text !== '');
const rc = dataFile('functions.rc');
/** Without what `time -p` has measured. */
const untimed = (result: unknown): string =>
  JSON.stringify(result, null, 1).replaceAll(/(real|user|sys) \d+\.\d+/g, '$1');

test.each(commandsIn('calls.sh'))(
  'a command does the same with stubs as with functions: %j',
  async (command) => {
    const snapshot = await snapshotOf(rc);
    const [every, stubs, needed] = await Promise.all([
      snapshot.run(command, 'every'),
      snapshot.run(command, 'stubs'),
      snapshot.run(command, 'needed'),
    ]);
    expect(untimed(stubs)).toEqual(untimed(every));
    expect(untimed(needed)).toEqual(untimed(every));
  },
);

test.each(commandsIn('looks.sh'))(
  'a command that could find out about stubs gets functions: %j',
  async (command) => {
    const snapshot = await snapshotOf(rc);
    expect(await snapshot.run(command, 'needed')).toEqual(await snapshot.run(command, 'every'));
  },
);

test('in POSIX mode there is no stub with a name that this mode refuses', async () => {
  const snapshot = await snapshotOf(rc);
  const text = `set -o posix; ${snapshot.text('args 1; echo on', 'stubs')}`;
  expect(printed(await run(text))).toBe('1 args\n<1>\nALIASED on\n');
});
