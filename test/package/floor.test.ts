import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('G2: the least glibc is checked in the symbol tables, and is the documented one', async () => {
  const script = readFileSync(`${root}scripts/glibc-floor.mjs`, 'utf8');
  const [, major, minor] = /FLOOR = \[(\d+), (\d+)\]/.exec(script) ?? [];
  const told = `glibc ${major}.${minor} or newer`;
  expect(readFileSync(`${root}docs/installing.md`, 'utf8')).toContain(told);
  // A build for this machine alone may need what it has; what it says must be its own tables'.
  const args = [`${root}scripts/glibc-floor.mjs`];
  const printed = await new Promise<string>((resolve) =>
    execFile(process.execPath, args, (_, stdout) => resolve(stdout)),
  );
  const lines = printed.trim().split('\n');
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    const [, word, newest] = /^(ok|FAILED) +.*linux-x64-gnu\/.*: GLIBC_2\.(\d+)$/.exec(line) ?? [];
    expect(word, line).toBe(Number(newest) <= Number(minor) ? 'ok' : 'FAILED');
  }
});
