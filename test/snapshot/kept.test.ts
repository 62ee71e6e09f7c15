import { readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ShellSnapshot } from '../../src/snapshot/shell-snapshot.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { useSnapshots } from '../support/snapshots.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
const snapshotOf = useSnapshots(folder);

/** What a command prints, however it gets the functions. */
async function outputs(rc: string, command: string): Promise<string[]> {
  const snapshot = await snapshotOf(rc);
  const all = await Promise.all(
    (['every', 'stubs', 'needed'] as const).map((as) => snapshot.run(command, as)),
  );
  return all.map(({ stdout }) => stdout);
}

/** A snapshot as commands get it. */
async function ready(rc: string, environment = `PATH=${process.env.PATH}\0HOME=/root\0`) {
  const rcFile = folder.file('own.rc');
  writeFileSync(rcFile, rc);
  const snapshot = new ShellSnapshot(
    {
      rcFile,
      timeoutMs: 20_000,
      environment: () => environment,
      shell: undefined,
      sandboxWith: () => undefined,
      mayKeep: () => true,
    },
    () => {},
  );
  keep(snapshot);
  const found = await snapshot.ready();
  if (found === undefined) throw new Error('there is no snapshot');
  return found;
}

test('an alias that ends with a tab makes the next word one, as it is with a blank (Q14)', async () => {
  const rc = `alias each=$'echo\\t' word='is an alias'\n`;
  const { textFor } = await ready(rc);
  expect(textFor('each word', undefined)).toMatch(/^command \. /);
  expect(await outputs(rc, 'each word')).toEqual(Array(3).fill('is an alias\n'));
});

test('a function is found through two aliases (Q14)', async () => {
  const many = Array.from({ length: 8 }, (_, index) => `other${index}() { :; }`).join('\n');
  const rc = `${many}\nhelper() { echo helped; }\nalias inner='helper ' outer='inner '\n`;
  const { textFor } = await ready(rc);
  expect(textFor('outer "$x"', undefined)).toMatch(/ stubs helper /);
});

test('a shell that has GLOBSORT of the rc file sorts by it (Q14)', async () => {
  const { textFor } = await ready('GLOBSORT=size\n');
  expect(textFor('ls *', undefined)).toMatch(/^command \. /);
  expect((await ready('SORT=size\n')).textFor('ls *', undefined)).toBe('ls *');
});

test('cd takes a variable where the rc file wants it, and is plain where not (Q14)', async () => {
  const wanted = await ready('shopt -s cdable_vars\nproject=/usr/lib\n');
  expect(wanted.textFor('cd project', undefined)).toMatch(/^command \. /);
  expect((await ready('project=/usr/lib\n')).textFor('cd project', undefined)).toBe('cd project');
});

test('a key agent that runs already is kept, and one that the rc file started is not (Q14)', async () => {
  const before = await ready('export SSH_AUTH_SOCK=/run/agent.sock\n');
  expect(before.exported).toEqual({ SSH_AUTH_SOCK: '/run/agent.sock' });
  const own = await ready('export SSH_AUTH_SOCK=/run/agent.sock SSH_AGENT_PID=5\n');
  expect(own.exported).toEqual({});
});

test('an associative array is one for commands, though it was exported (Q14)', async () => {
  const rc = `declare -Ax map=([k]='v w' [l]=x)\ndeclare -ax list=(a b)\n`;
  expect((await ready(rc)).exported).toEqual({});
  const command = `echo "\${map[k]}-\${map[l]}-\${list[1]}"`;
  expect(await outputs(rc, command)).toEqual(Array(3).fill('v w-x-b\n'));
});

test('a function with too long a name for a file is left out, and takes no other with it (Q14)', async () => {
  const long = 'f'.repeat(260);
  const rc = `${long}() { :; }\nhelper() { echo helped; }\n`;
  expect(await outputs(rc, 'helper')).toEqual(Array(3).fill('helped\n'));
});

test('a variable that was there before the rc file, and that it has changed, is kept (Q14)', async () => {
  const { exported } = await ready(
    'EDITOR=$EDITOR-changed\n',
    `PATH=${process.env.PATH}\0EDITOR=ed\0`,
  );
  expect(exported).toEqual({ EDITOR: 'ed-changed' });
});

test('extglob is on only in commands whose rc file has set it (Q14)', async () => {
  const command = 'helper; shopt extglob';
  expect(await outputs('helper() { :; }\n', command)).toEqual(
    Array(3).fill('extglob        \toff\n'),
  );
  const rc = 'helper() { :; }\nshopt -s extglob\n';
  expect(await outputs(rc, command)).toEqual(Array(3).fill('extglob        \ton\n'));
});

test("the shell's dump, with secrets in it, does not stay in a file (Q14)", async () => {
  const { directory } = await ready('SECRET=hush\nhelper() { :; }\n');
  expect(readdirSync(directory).sort()).toEqual([
    'every',
    'functions',
    'named',
    'snapshot',
    'stubs',
  ]);
});

test('pipefail and PATH are what the rc file has made them, in any letters (Q14)', async () => {
  const set = await ready(`set -o pipefail\nPATH="$PATH:/opt/été"\n`);
  expect(set.pipefail).toBe(true);
  expect(set.path).toBe(`${process.env.PATH}:/opt/été`);
  expect((await ready(':\n')).pipefail).toBe(false);
});

test('a variable that no shell can read back affects no other (Q14)', async () => {
  // As old versions of bash print some keys; here it is a function that prints them.
  const rc = `
builtin() {
  if [[ "$*" == 'declare -p -- broken' ]]; then echo 'declare -- broken=("'; else command builtin "$@"; fi
}
broken=1
helper() { echo helped; }
last=there
`;
  expect(await outputs(rc, 'helper; echo $last')).toEqual(Array(3).fill('helped\nthere\n'));
});
