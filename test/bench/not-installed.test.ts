// What is not installed leaves out a column of the benchmarks, or a suite.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { endOf } from '../support/cli.js';
import { root } from '../support/house.js';
import { leavesNothingBehind, useFolders } from '../support/leftovers.js';

leavesNothingBehind();
const folders = useFolders();

const COPIED = ['bench', 'scripts/pictures', 'package.json'];
/** What was built or measured stays where it is. */
const LEFT = ['bench/floor/build', 'bench/results'].map((folder) => join(root, folder));

/** A copy of the benchmarks that has this forkline, and of all packages only these. */
function benchmarksWith(...packages: readonly string[]): string {
  const folder = folders();
  for (const name of COPIED) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => !LEFT.includes(path),
    });
  }
  for (const name of ['dist', ...packages.map((each) => `node_modules/${each}`)]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    symlinkSync(join(root, name), join(folder, name));
  }
  return join(folder, 'bench/run.mjs');
}

test('peers leave out their columns, and the floor, a client and an SDK their suites', async () => {
  const runner = benchmarksWith('tinybench', 'tinyexec', 'nano-spawn');
  const args = [runner, 'p1', 'p8', 'p12', 'p17', '--quick'];
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const { code, stdout } = await endOf(spawn(process.execPath, args, { stdio }));
  const table = stdout.toString();
  expect(table).toMatch(
    /^p1 +not measured: the floor is not built: cmake-js is not installed \(`npm ci`\)$/m,
  );
  expect(table).toMatch(/^P8 +resident growth .* child_process, 1 GiB [^,]*$/m);
  expect(table).toMatch(/^p12 +not measured: @modelcontextprotocol\/client is not installed/m);
  expect(table).toMatch(/^p17 +not measured: @nats-io\/transport-node is not installed/m);
  expect(table).toMatch(/^Left out: execa is not installed \(`npm ci`\)\.$/m);
  expect(table).toMatch(/^Not measured: p1, p12, p17\.$/m);
  expect(code).toBe(0);
}, 120_000);
