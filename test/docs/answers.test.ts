import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { read, root } from '../support/house.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();

test('docs/answers.md is what `node scripts/answers.mjs >docs/answers.md` writes now', async () => {
  const script = join(root, 'scripts/answers.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toBe(read('docs/answers.md'));
});
