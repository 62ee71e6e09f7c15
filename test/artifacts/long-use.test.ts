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

test('L1: as many claims as no argument list can carry neither fail a save nor stay', {
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

test('L1: one that cannot be swept keeps what comes, and says so once', async () => {
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
    expect(warned.mock.calls).toEqual([[`artifacts in ${directory} are not swept: no`]]);
  } finally {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  }
});

test('L2: a save looks at nothing but its own file, however many there are', async () => {
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

test('L3: its age counts from its publication, not from its last byte', async () => {
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

test('L3: what was published last stays, even where its time has passed', async () => {
  const store = createArtifactStore({ directory: newDirectory(), maxAgeMs: 1, maxTotalBytes: 3 });
  await store.save('bash', 'xx');
  await setTimeout(20);
  const { path } = await store.save('bash', 'xx');
  utimesSync(path, 1, 1);
  expect(await idsOf(store)).toEqual(['1']);
});

test('H10: no id is given twice when a cleaner has removed the files', async () => {
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

test('H10: ids that somebody else has begun anew meanwhile are skipped', async () => {
  const directory = newDirectory();
  const store = createArtifactStore({ directory });
  for (let saved = 0; saved < 9; saved += 1) await store.save('bash', 'a');
  for (const name of readdirSync(directory)) rmSync(`${directory}/${name}`);
  writeFileSync(`${directory}/.ids`, `${'0'.padEnd(16)}8 bytes.`, { mode: 0o600 });
  expect((await store.save('bash', 'b')).id).toBe('9');
  expect((await store.save('bash', 'b')).id).toBe('10');
});
