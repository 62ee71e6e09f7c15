import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../src/index.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';

// A hook is held as its command has written it, whatever the steps.
leavesNothingBehind(20);
const folders = useFolders();
const sandbox = 'workspace-write';
const HOOK = '.git/hooks/pre-commit';

function repository(): string {
  const work = join(folders(), 'work');
  execFileSync('git', ['init', '-q', work], { stdio: 'ignore' });
  return work;
}

const python = (code: string) => `python3 - <<'END'\n${code}\nEND\n`;

test.each([
  ['at once', `printf 'a\\nb\\n' > ${HOOK}; chmod 755 ${HOOK} 2>/dev/null`, 'a\nb\n'],
  ['in steps', `echo a > ${HOOK}; echo b >> ${HOOK}; echo c >> ${HOOK}`, 'a\nb\nc\n'],
  ['anew', `echo a > ${HOOK}; echo b >> ${HOOK}; echo c > ${HOOK}`, 'c\n'],
  [
    'from the middle',
    python(`open('${HOOK}', 'w').write('a')
f = open('${HOOK}', 'r+'); f.seek(1); f.write('b'); f.close()`),
    'ab',
  ],
  [
    'under another name at first',
    python(`import os
open('.git/hooks/x', 'w').write('a')
os.rename('.git/hooks/x', '${HOOK}')`),
    'a',
  ],
  [
    'by a process that opens it again',
    `{ echo a >> /dev/stdout; sleep .3; echo b; } >> ${HOOK}; git status >/dev/null`,
    'a\nb\n',
  ],
])('a new hook that is written %s can be accepted, and is obeyed', async (_, command, content) => {
  const work = repository();
  const { heldBack, sandbox: report } = await run(command, { cwd: work, sandbox });
  expect(report?.unseen).toBeUndefined();
  expect(heldBack.map(({ path, keys }) => [path, keys])).toEqual([
    [join(work, HOOK), ['hooks/pre-commit']],
  ]);
  expect(await heldBack[0]?.accept()).toBe('put');
  expect(readFileSync(join(work, HOOK), 'utf8')).toBe(content);
  expect(statSync(join(work, HOOK)).mode & 0o111).toBe(0o111);
});

test.each([
  ['sed', `sed -i s/true/false/ ${HOOK}`],
  ['perl', `perl -pi -e s/true/false/ ${HOOK}`],
])('a hook that is edited by %s is held under its name', async (_, command) => {
  const work = repository();
  writeFileSync(join(work, HOOK), 'true\n', { mode: 0o644 });
  const before = readdirSync(join(work, '.git/hooks'));
  const { heldBack, outcome } = await run(command, { cwd: work, sandbox });
  expect(outcome).toMatchObject({ exitCode: 0 });
  expect(heldBack.map(({ path }) => path)).toEqual([join(work, HOOK)]);
  expect(readFileSync(join(work, HOOK), 'utf8')).toBe('true\n');
  expect(await heldBack[0]?.accept()).toBe('put');
  expect(readFileSync(join(work, HOOK), 'utf8')).toBe('false\n');
  // It was none that can be executed.
  expect(statSync(join(work, HOOK)).mode & 0o777).toBe(0o644);
  expect(readdirSync(join(work, '.git/hooks'))).toEqual(before);
});

test('a hook that is written on after its change was dropped begins anew', async () => {
  const work = repository();
  const { heldBack } = await run(`echo a > ${HOOK}`, { cwd: work, sandbox });
  await heldBack[0]?.drop();
  const { heldBack: next } = await run(`echo b >> ${HOOK}`, { cwd: work, sandbox });
  expect(next[0]?.diff).toContain('+b');
  expect(next[0]?.diff).not.toContain('+a');
});

test('what is too long to be held is told', async () => {
  const work = repository();
  const command = `head -c 17000000 /dev/zero > ${HOOK}`;
  const { heldBack, sandbox: report } = await run(command, { cwd: work, sandbox });
  expect(heldBack).toEqual([]);
  expect(report?.unseen).toEqual([
    `what was written to ${join(work, HOOK)} is not in effect, and was not held back`,
  ]);
});
