import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type ArtifactStore, createArtifactStore } from '../../src/index.js';
import { useFolder } from '../support/leftovers.js';

const folder = useFolder();
let folders = 0;
function newDirectory(): string {
  folders += 1;
  return folder.file(`store-${folders}`);
}

const idsOf = async (store: ArtifactStore) => (await store.list()).map(({ id }) => id);

/** As an earlier version has left it. */
function withClaims(count: number): string {
  const directory = newDirectory();
  mkdirSync(directory, { mode: 0o700 });
  for (let id = 0; id < count; id += 1) writeFileSync(`${directory}/.id-${id}`, '');
  return directory;
}

test('L1: more claims than fit into an argument list do not fail a save, and are removed', {
  tags: ['slow'],
}, async () => {
  const directory = withClaims(130_000);
  const store = createArtifactStore({ directory });
  expect((await store.save('bash', 'x')).id).toBe('130000');
  expect(await idsOf(store)).toEqual(['130000']);
  const after = createArtifactStore({ directory });
  expect(await idsOf(after)).toEqual(['130000']);
  expect(readdirSync(directory).sort()).toEqual(['.ids', '130000.bash.log']);
  expect((await after.save('bash', 'x')).id).toBe('130001');
});

test('L1: a directory that cannot be swept still takes artifacts, and a warning says so once', async () => {
  const directory = newDirectory();
  const first = createArtifactStore({ directory });
  await first.save('bash', 'x');
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const readdir = vi.spyOn(promises, 'readdir').mockRejectedValue(new Error('no'));
  syncBuiltinESMExports();
  try {
    const store = createArtifactStore({ directory, maxTotalBytes: 1 });
    for (const id of ['1', '2', '3']) expect((await store.save('bash', 'x')).id).toBe(id);
    expect(readdir).toHaveBeenCalled();
    expect(warned.mock.calls).toEqual([[`old artifacts in ${directory} stay: no`]]);
  } finally {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  }
});

test('L2: a save reads only its own file, however many there are', async () => {
  const directory = withClaims(3000);
  const store = createArtifactStore({ directory });
  await store.save('bash', 'x');
  await store.list();
  const readdir = vi.spyOn(promises, 'readdir');
  const stat = vi.spyOn(promises, 'stat');
  syncBuiltinESMExports();
  try {
    for (let saved = 0; saved < 20; saved += 1) await store.save('bash', 'x');
    expect(readdir).not.toHaveBeenCalled();
    expect(stat).toHaveBeenCalledTimes(20);
  } finally {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  }
});

test("L3: an artifact's age counts from its publication, not from its last byte", async () => {
  const directory = newDirectory();
  const store = createArtifactStore({ directory, maxAgeMs: 60_000 });
  const { path, keep } = await store.draft('bash');
  writeFileSync(path, 'early');
  const before = Date.now() / 1000 - 3600;
  utimesSync(path, before, before);
  await keep({ bytes: 5, dropped: 0 });
  expect(await idsOf(store)).toEqual(['0']);
  expect(await idsOf(createArtifactStore({ directory, maxAgeMs: 60_000 }))).toEqual(['0']);
});

test('L3: the artifact that was published last stays, even if it is too old', async () => {
  const store = createArtifactStore({ directory: newDirectory(), maxAgeMs: 1, maxTotalBytes: 3 });
  await store.save('bash', 'xx');
  await setTimeout(20);
  const { path } = await store.save('bash', 'xx');
  utimesSync(path, 1, 1);
  expect(await idsOf(store)).toEqual(['1']);
});

test('H10: no id is used twice after the files were removed', async () => {
  const directory = newDirectory();
  const given = createArtifactStore({ directory });
  const own = createArtifactStore();
  for (const store of [given, own]) {
    const { path } = await store.save('bash', 'a');
    expect((await store.save('bash', 'b')).id).toBe('1');
    for (const name of readdirSync(dirname(path))) rmSync(`${dirname(path)}/${name}`);
    expect((await store.save('bash', 'c')).id).toBe('2');
    rmSync(dirname(path), { recursive: true });
    expect(await idsOf(store)).toEqual([]);
    expect((await store.save('bash', 'd')).id).toBe('3');
  }
  expect((await createArtifactStore({ directory }).save('bash', 'e')).id).toBe('4');
  await own.dispose();
});

test('H10: ids of a counter that another process has begun anew are skipped', async () => {
  const directory = newDirectory();
  const store = createArtifactStore({ directory });
  for (let saved = 0; saved < 9; saved += 1) await store.save('bash', 'a');
  for (const name of readdirSync(directory)) rmSync(`${directory}/${name}`);
  writeFileSync(`${directory}/.ids`, `${'0'.padEnd(16)}8 bytes.`, { mode: 0o600 });
  expect((await store.save('bash', 'b')).id).toBe('9');
  expect((await store.save('bash', 'b')).id).toBe('10');
});
