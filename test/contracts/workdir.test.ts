import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkWorkingDirectory, resolveWorkingDirectory } from '../../src/contracts/workdir.js';

let base = '';
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'forkline-workdir-'));
  mkdirSync(join(base, 'dir/inner'), { recursive: true });
  writeFileSync(join(base, 'file'), '');
  symlinkSync('dir', join(base, 'link'));
});
afterAll(() => {
  rmSync(base, { recursive: true });
});

async function resolveIn(cwd: string | undefined): Promise<string> {
  const path = resolveWorkingDirectory(cwd, base, join(base, 'dir'));
  await checkWorkingDirectory(path);
  return path;
}

test.each([
  [undefined, ''],
  ['dir', '/dir'],
  ['./dir/../dir/', '/dir'],
  ['link/inner', '/link/inner'],
  ['~', '/dir'],
  ['~/inner', '/dir/inner'],
])('%j is a directory', async (cwd, path) => {
  expect(await resolveIn(cwd)).toBe(`${base}${path}`);
});

test('an absolute path stays', async () => {
  expect(await resolveIn('/')).toBe('/');
});

test.each(['none', 'dir/none', 'file/none', '~me'])('%j does not exist', async (cwd) => {
  await expect(resolveIn(cwd)).rejects.toThrow(
    `Working directory does not exist: ${join(base, cwd)}`,
  );
});

test('a file is no directory', async () => {
  await expect(resolveIn('file')).rejects.toThrow(
    `Working directory is not a directory: ${join(base, 'file')}`,
  );
});

test('a directory that cannot be examined says why', async () => {
  const long = 'x'.repeat(300);
  await expect(resolveIn(long)).rejects.toThrow(
    `Working directory cannot be used: ${join(base, long)} (ENAMETOOLONG)`,
  );
  await expect(resolveIn('a\0b')).rejects.toThrow(
    'cwd: expected a path without NUL, got "a\\u0000b"',
  );
});
