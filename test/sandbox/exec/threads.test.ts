import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run } from '../../../src/index.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';

// A thread that executes a program takes the number of its process's first thread, and ends all others: one of them
// may be judged or held at that moment.
leavesNothingBehind(30);
const folders = useFolders();

test.each(['800 1 1', '2000 30 1', '1500 30 3', '1500 30 3 leader'])(
  'programs that threads execute all run, and nothing is denied: %s',
  { timeout: 60_000 },
  async (how) => {
    const cwd = folders();
    const source = fileURLToPath(new URL('threads.c', import.meta.url));
    execFileSync('cc', ['-O1', '-pthread', '-o', join(cwd, 'threads'), source]);
    const sandbox = { exec: { rules: [{ program: 'shred', answer: 'deny' }] } } as const;
    const options = { cwd, sandbox, timeoutMs: 30_000 };
    const { outcome, output, executed } = await run(`./threads /bin/true ${how}`, options);
    expect([outcome, output, executed]).toMatchObject([{ exitCode: 0 }, { text: '0\n' }, []]);
  },
);
