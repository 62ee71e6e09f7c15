import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { quote } from '../../../support/commands.js';
import { leavesNothingBehind } from '../../../support/leftovers.js';
import { installed, where } from '../../../support/needs.js';
import { expectReverted, useUndone } from '../undone.js';
import { TOOL_SCENES, type ToolScene } from './scenes.js';

// Real tools, each in a tree of its own: what they change is counted, and taken back bit for bit.
leavesNothingBehind(1);
const make = useUndone();
const BIOME = fileURLToPath(new URL('../../../../node_modules/.bin/biome', import.meta.url));

async function expectUndone({ setup, command, counts }: Omit<ToolScene, 'title'>): Promise<void> {
  const undone = await make(setup);
  const ended = await undone.run(`BIOME=${quote(BIOME)}\n${command}`);
  const { changes, result, text } = ended;
  expect({ outcome: result.outcome, text }).toMatchObject({ outcome: { exitCode: 0 } });
  expect(changes).toMatchObject({ complete: true, unseen: [], unrevertable: [] });
  const told = [changes.created, changes.changed, changes.deleted, changes.renamed];
  const few = counts.filter((count, index) => (told[index] ?? 0) < count);
  expect(few, `told ${told}, at least ${counts}`).toEqual([]);
  await expectReverted(undone, ended);
}

for (const scene of TOOL_SCENES) {
  test(scene.title, where(...(scene.needs ?? [])), () => expectUndone(scene));
}

test('npm install of a folder', where(installed('npm')), () =>
  expectUndone({
    setup:
      'mkdir dep; echo \'{"name":"dep","version":"1.0.0"}\' >dep/package.json; echo 1 >dep/index.js; echo \'{"name":"main"}\' >package.json',
    command: 'npm install --offline --no-audit --no-fund --install-links ./dep 2>&1',
    counts: [4, 1, 0, 0],
  }),
);

test('cargo build', where(installed('cargo')), () =>
  expectUndone({
    setup:
      'mkdir src; printf \'[package]\\nname = "a"\\nedition = "2021"\\n[workspace]\\n\' >Cargo.toml; echo \'fn main() {}\' >src/main.rs',
    command: 'cargo build -q --offline 2>&1',
    counts: [5, 0, 0, 0],
  }),
);

test('make, which builds anew what is old', where(installed('make')), () =>
  expectUndone({
    setup:
      "printf 'all: out/a out/b\\nout/%%: %%.in\\n\\tmkdir -p out\\n\\ttr a-z A-Z <$< >$@\\n' >Makefile; echo a >a.in; echo b >b.in; make -s; touch -d '+1 hour' a.in",
    command: 'make -s; make -s -B',
    counts: [0, 0, 0, 0],
  }),
);

test('SQLite, with a journal and with a log', () =>
  expectUndone({
    setup: sqlite("db.execute('create table t (a)')", "db.execute('insert into t values (1)')"),
    command: `${sqlite("db.executemany('insert into t values (?)', [(i,) for i in range(5000)])")}
${sqlite("db.execute('pragma journal_mode=wal')", "db.execute('delete from t where a > 100')")}`,
    counts: [0, 1, 0, 0],
  }));

test('compileall', () =>
  expectUndone({
    setup: 'mkdir p; echo a=1 >p/a.py; echo b=2 >p/b.py; /usr/bin/python3 -m compileall -q p',
    command: 'echo a=3 >p/a.py; rm p/b.py; /usr/bin/python3 -m compileall -qf p',
    counts: [0, 2, 1, 0],
  }));

function sqlite(...statements: readonly string[]): string {
  const lines = ['import sqlite3', "db = sqlite3.connect('base.db')", ...statements, 'db.commit()'];
  return `/usr/bin/python3 -c "${lines.join('\n')}"`;
}

test('what a tool has changed is as without undo', async () => {
  const command =
    'rm f1; mv f2 f3; echo more >>f4; chmod 700 f5; mkdir -p a/b; ln f4 a/b/l; ls -lR';
  const list = (path: string) => execFileSync('ls', ['-lRn', '--time-style=+'], { cwd: path });
  const [one, other] = [await make(FIVE), await make(FIVE)];
  await one.run(command);
  execFileSync('bash', ['-c', command], { cwd: other.path, stdio: 'ignore' });
  expect(String(list(one.path))).toBe(String(list(other.path)));
});

const FIVE = 'for i in 1 2 3 4 5; do echo $i >f$i; done';
