import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  makeTemporaryDirectory,
  removeTemporaryDirectory,
} from '../../src/artifacts/temporary-directory.js';
import { createArtifactStore, createBashTool } from '../../src/index.js';
import { useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';

const folder = useFolder();
const home = () => folder.file(`forkline-${process.getuid?.()}`);

beforeEach(() => {
  vi.stubEnv('TMPDIR', folder.path);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test('L8: directories of killed hosts are removed in the background, some at a time', async () => {
  mkdirSync(home(), { mode: 0o700 });
  // No process has a number as large.
  const left = Array.from({ length: 300 }, (_, index) => `${home()}/x-99999999-${index}`);
  for (const path of left) {
    mkdirSync(path);
    utimesSync(path, 1, 1);
  }
  const before = () => left.filter((path) => existsSync(path)).length;
  const first = await makeTemporaryDirectory('x-', 60_000);
  expect(before()).toBeGreaterThan(200);
  await eventually(() => expect(before()).toBeLessThan(300));
  await eventually(async () => {
    await removeTemporaryDirectory(await makeTemporaryDirectory('x-', 60_000));
    expect(before()).toBe(0);
  });
  expect(existsSync(first)).toBe(true);
  await removeTemporaryDirectory(first);
  rmSync(home(), { recursive: true });
});

test('D5: a TMPDIR that does not exist is an error, and nothing is made there', async () => {
  const missing = folder.file('no/such');
  vi.stubEnv('TMPDIR', missing);
  const store = createArtifactStore();
  await expect(store.save('bash', 'x')).rejects.toThrow(`${missing}: no such directory (TMPDIR)`);
  // Without a home, records of what outlives its host have their place there, too.
  vi.stubEnv('XDG_STATE_HOME', '');
  vi.stubEnv('HOME', missing);
  const tool = createBashTool({ contract: 'modes', cwd: folder.path });
  await expect(tool.execute({ command: 'true', mode: 'background' })).rejects.toThrow(
    `no directory for its output: ${missing}: no such directory (TMPDIR)`,
  );
  await tool.dispose();
  expect(readdirSync(dirname(dirname(missing)))).toEqual([]);
});
