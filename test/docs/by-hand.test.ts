import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [, section = ''] =
  /\n## Written by hand\n(.*?)\n## /s.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')) ??
  [];
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.slice(2, -2).split(' | '));

test('all that is written by hand is there, with what was looked at and a reason', () => {
  expect(rows.length).toBeGreaterThan(10);
  for (const [what = '', where = '', lookedAt = '', reason = '', ...more] of rows) {
    const paths = [...where.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
    expect(paths, what).not.toEqual([]);
    expect(
      paths.filter((path) => !existsSync(join(root, path))),
      what,
    ).toEqual([]);
    expect([lookedAt, reason], what).not.toContain('');
    expect(more, what).toEqual([]);
  }
});

test('CONTRIBUTING names no file that is not there', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const named = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, words = '']) =>
    words.split(/[ :]/).filter((word) => /^(?:src|native|test|scripts|docs|bench)\//.test(word)),
  );
  expect(named.length).toBeGreaterThan(50);
  // Places to be filled in: `src/*.ts`, `docs/<contract>.md`, `test/mutants/ROOM.json`.
  const files = named.filter((word) => !/[*<]|[A-Z]{3,}/.test(word));
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
