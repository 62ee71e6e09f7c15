import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run } from '../../../src/index.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';

// A call names its program and its arguments in memory, links and files that others may change while it is decided on.
leavesNothingBehind(10);
const folders = useFolders();
const ATTEMPTS = 2000;

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function programs(): string {
  const folder = folders();
  const source = fileURLToPath(new URL('race.c', import.meta.url));
  execFileSync('cc', ['-O1', '-pthread', '-o', join(folder, 'race'), source]);
  for (const name of ['harmless', 'denied']) {
    copyFileSync(join(folder, 'race'), join(folder, name));
    // Another content, so that the one is not the other by its bytes.
    appendFileSync(join(folder, name), name);
  }
  return folder;
}

test.each(['path', 'argument', 'memory', 'link', 'script'])(
  'of 2,000 calls whose %s changes meanwhile none executes what is denied',
  { timeout: 120_000 },
  async (mode) => {
    const cwd = programs();
    const [harmless, denied] = [join(cwd, 'harmless'), join(cwd, 'denied')];
    const rules = [
      { program: denied, answer: 'deny' },
      { argv: ['denied'], exact: true, answer: 'deny' },
    ] as const;
    const sandbox = { exec: { rules } };
    const argv = ['./race', mode, String(ATTEMPTS), harmless, denied];
    const result = await run(argv, { cwd, sandbox });
    expect(result.outcome).toEqual({ kind: 'exited', exitCode: 0 });
    expect(sizeOf(join(cwd, 'ran'))).toBe(0);
    // The others did run, and what was denied is told.
    expect(sizeOf(join(cwd, 'passed'))).toBeGreaterThan(ATTEMPTS / 20);
    const told = (result.executed ?? []).length + (result.moreExecuted ?? 0);
    expect(told).toBeGreaterThan(ATTEMPTS / 20);
  },
);
