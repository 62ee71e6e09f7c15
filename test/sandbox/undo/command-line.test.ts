import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cli } from '../../support/cli.js';
import { useState } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';

leavesNothingBehind();
const state = useFolder();
useState(() => state.path);
const newFolder = useFolders();

function workspace(): string {
  const work = newFolder();
  for (const name of ['a', 'b']) writeFileSync(join(work, name), 'before\n');
  return work;
}

const now = (work: string, name = 'a'): string => readFileSync(join(work, name), 'utf8');

test('forkline run --undo says what was changed, and forkline revert takes it back', async () => {
  const work = workspace();
  const { code, stderr } = await cli('run', '--undo', '--cwd', work, 'echo x | tee a b c >&-');
  expect(stderr).toContain('forkline: Changed 3 files (1 created, 2 changed).\n');
  expect(code).not.toBe(null);
  const listed = await cli('changes', '--workspace', work);
  const [headings, line = ''] = String(listed.stdout).split('\n');
  expect(headings).toMatch(/^ID +AGO +FILES +COMMAND$/);
  expect(line).toMatch(/^[\da-f]{16} +\d+s +1 created, 2 changed +echo x \| tee a b c >&-$/);
  const [id = ''] = line.split(' ');
  const shown = String((await cli('changes', id)).stdout);
  expect(shown).toMatch(/^changed +7B? -> 2B? +.*\/a\n/);
  expect(await cli('revert', id, join(work, 'b'))).toMatchObject({
    code: 0,
    stdout: Buffer.from(`${join(work, 'b')}\n`),
    stderr: '',
  });
  expect([now(work), now(work, 'b')]).toEqual(['x\n', 'before\n']);
  writeFileSync(join(work, 'a'), 'by the user\n');
  const rest = await cli('revert', id);
  expect(rest.code).toBe(1);
  expect(rest.stderr).toContain(`forkline: ${join(work, 'a')}: it stays as it is: `);
  expect(now(work)).toBe('by the user\n');
});

test('--json has it all', async () => {
  const work = workspace();
  const ran = await cli('run', '--undo', '--json', '--cwd', work, 'rm a');
  const { changes } = JSON.parse(String(ran.stdout));
  expect(changes).toMatchObject({ deleted: 1, list: [{ kind: 'deleted', path: join(work, 'a') }] });
  const listed = JSON.parse(String((await cli('changes', '--json', '--workspace', work)).stdout));
  expect(listed).toMatchObject([{ id: changes.id, command: 'rm a', deleted: 1 }]);
  const shown = JSON.parse(String((await cli('changes', changes.id, '--json')).stdout));
  expect(shown).toMatchObject({ id: changes.id, list: changes.list });
  const done = await cli('revert', changes.id, '--json');
  expect(done.code).toBe(0);
  expect(JSON.parse(String(done.stdout))).toEqual({
    reverted: [join(work, 'a')],
    conflicts: [],
    lost: [],
  });
});

test('an id that is not known is an error', async () => {
  for (const what of ['changes', 'revert']) {
    const { code, stderr } = await cli(what, '0123456789abcdef');
    expect(code).toBe(1);
    expect(stderr).toBe(
      'forkline: id: expected that of recorded changes, got "0123456789abcdef"\n',
    );
  }
  const both = await cli('changes', '0123456789abcdef', '--workspace', '/');
  expect(both.stderr).toContain("expected an id or '--workspace', not both");
});
