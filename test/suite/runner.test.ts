import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/house.js';
import { useFolder } from '../support/leftovers.js';
import { processesRunning } from '../support/processes.js';

const folder = useFolder();

/** Runs `npm test -- PATH`, as somebody whose surroundings are odd; says what its last lines are. */
function npmTest(scene: string) {
  const tmp = folder.file(`tmp of ${scene}`);
  mkdirSync(tmp);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    TMPDIR: tmp,
    LC_ALL: 'xx_YY.UTF-8',
    FORKLINE_TESTS: 'test/suite/scenes/*.scene.ts',
  };
  delete env.HOME;
  const script = 'umask 077; ulimit -n 256; exec "$@"';
  const command = [process.execPath, 'scripts/test.mjs', `test/suite/scenes/${scene}.scene.ts`];
  const { stdout, status } = spawnSync('sh', ['-c', script, 'sh', ...command], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  return { lines: stdout.trimEnd().split('\n'), status, left: readdirSync(tmp) };
}

test('a run says what was skipped and why, sums up, and leaves nothing', () => {
  const { lines, status, left } = npmTest('green');
  expect(lines.slice(-2)).toEqual([
    'skipped: 2 (there is no sun), 1 (there is no moon)',
    // A path is run whole, with what takes long.
    '2 passed, 0 failed',
  ]);
  expect({ status, left }).toEqual({ status: 0, left: [] });
}, 120_000);

test('a run that leaves files and processes is red, names them and ends them', () => {
  const { lines, status, left } = npmTest('leaves');
  expect(lines.slice(-3)).toEqual([
    expect.stringMatching(/^failed: still runs: \d+ sleep 6011$/),
    expect.stringMatching(/^failed: left in TMPDIR: left-\w+$/),
    '1 passed, 1 failed',
  ]);
  expect({ status, left }).toEqual({ status: 1, left: [] });
  expect(processesRunning('sleep 6011')).toEqual([]);
}, 120_000);

test('a failed test is named, and the run is red', () => {
  const { lines, status, left } = npmTest('red');
  expect(lines.slice(-2)).toEqual([
    'failed: test/suite/scenes/red.scene.ts > one is two',
    '0 passed, 1 failed',
  ]);
  expect({ status, left }).toEqual({ status: 1, left: [] });
}, 120_000);

test('a path that leads to no test is red', () => {
  const { lines, status } = npmTest('none');
  expect(lines.at(-1)).toBe('0 passed, 1 failed');
  expect(status).toBe(1);
  expect(existsSync(join(root, 'build', 'tests.lock'))).toBe(false);
}, 120_000);
