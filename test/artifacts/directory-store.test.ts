import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, relative } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ArtifactError, type ArtifactStore, createArtifactStore } from '../../src/index.js';
import { useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';

const folder = useFolder();
let folders = 0;
function newDirectory(): string {
  folders += 1;
  return folder.file(`store-${folders}`);
}

const modeOf = (path: string) => statSync(path).mode & 0o777;
const idsOf = async (store: ArtifactStore) => (await store.list()).map(({ id }) => id);
const text = async (store: ArtifactStore, id: string) =>
  Buffer.from(await store.read(id)).toString();

describe('files', () => {
  test('are named by id and tool, for their owner alone', async () => {
    const directory = newDirectory();
    const store = createArtifactStore({ directory });
    const first = await store.save('bash', 'one');
    expect(first).toEqual({ id: '0', tool: 'bash', path: `${directory}/0.bash.log`, bytes: 3 });
    expect((await store.save('bash-original', 'two')).path).toBe(
      `${directory}/1.bash-original.log`,
    );
    expect(modeOf(directory)).toBe(0o700);
    expect(modeOf(first.path)).toBe(0o600);
    expect(await text(store, '1')).toBe('two');
  });

  test('have names that stay in the directory, whatever the tool is called', async () => {
    const store = createArtifactStore({ directory: newDirectory() });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (tool) => {
        const { id, path } = await store.save(tool, 'x');
        expect(path).toMatch(/\/\d+\.[A-Za-z0-9_-]{1,64}\.log$/);
        expect((await store.find(id)).path).toBe(path);
      }),
      { numRuns: 30 },
    );
  });
});

describe('ids', () => {
  test('are never given twice, by one store or by many at once', async () => {
    const directory = newDirectory();
    const stores = [1, 2, 3, 4].map(() => createArtifactStore({ directory }));
    const saves = stores.flatMap((store) =>
      Array.from({ length: 10 }, (_, index) => store.save('bash', `${index}`)),
    );
    const ids = (await Promise.all(saves)).map(({ id }) => Number(id));
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index));
  });

  test('go on after a restart, even when the artifacts are gone', async () => {
    const directory = newDirectory();
    const before = createArtifactStore({ directory, maxTotalBytes: 1 });
    await before.save('bash', 'a');
    const { path } = await before.save('bash', 'b');
    await before.dispose();
    rmSync(path);
    const after = createArtifactStore({ directory });
    expect(await idsOf(after)).toEqual([]);
    expect((await after.save('bash', 'c')).id).toBe('2');
  });
});

describe('artifacts', () => {
  test('is found by its number, however many noughts are before it (Q14)', async () => {
    const store = createArtifactStore({ directory: newDirectory() });
    for (let id = 0; id < 8; id += 1) await store.save('bash', `${id}`);
    for (const id of ['7', '07', '007']) expect(await store.find(id)).toMatchObject({ id: '7' });
    for (const id of ['0', '000']) expect(await store.find(id)).toMatchObject({ id: '0' });
    expect(await text(store, '007')).toBe('7');
    await expect(store.find('70')).rejects.toThrow('Unknown artifact id: 70.');
  });

  test('is listed in the order of its numbers, not of its names (Q14)', async () => {
    const store = createArtifactStore({ directory: newDirectory() });
    const tools = ['b', 'a'];
    for (let id = 0; id < 12; id += 1) await store.save(tools[id % 2] ?? '', `${id}`);
    expect(await idsOf(store)).toEqual(Array.from({ length: 12 }, (_, id) => `${id}`));
  });
});

describe('drafts', () => {
  test('become artifacts when they are kept, and leave nothing when they are not', async () => {
    const directory = newDirectory();
    const store = createArtifactStore({ directory });
    const [kept, unused, empty] = await Promise.all([
      store.draft('bash'),
      store.draft('bash'),
      store.draft('bash'),
    ]);
    expect(readdirSync(directory)).toEqual([]);
    writeFileSync(kept.path, 'all', { flag: 'wx' });
    expect(await idsOf(store)).toEqual([]);
    expect(await kept.keep({ bytes: 3, dropped: 0 })).toMatchObject({ id: '0', bytes: 3 });
    unused.discard();
    const error = { code: 'ENOSPC', message: 'no space' };
    expect(await empty.keep({ bytes: 0, dropped: 9, error })).toBeUndefined();
    expect(readdirSync(directory).sort()).toEqual(['.ids', '0.bash.log']);
  });

  test('say at their end how much is missing', async () => {
    const store = createArtifactStore({ directory: newDirectory(), maxBytes: 1024 });
    const draft = await store.draft('bash');
    expect(draft.maxBytes).toBe(1024);
    writeFileSync(draft.path, 'x'.repeat(1024));
    await draft.keep({ bytes: 1024, dropped: 2048 });
    expect((await text(store, '0')).slice(1024)).toBe(
      '\n[… 2.0KB more were not kept: limit of 1.0KB …]\n',
    );
    await store.save('bash', 'y'.repeat(1025));
    expect((await text(store, '1')).slice(1024)).toBe(
      '\n[… 1B more were not kept: limit of 1.0KB …]\n',
    );
  });

  test('are made anew when the directory was removed', async () => {
    const store = createArtifactStore();
    const lost = await store.draft('bash');
    rmSync(dirname(lost.path), { recursive: true });
    const error = { code: 'ENOENT', message: 'no such file' };
    expect(await lost.keep({ bytes: 0, dropped: 1, error })).toBeUndefined();
    expect((await store.save('bash', 'x')).id).toBe('0');
    await store.dispose();
  });
});

describe('limits', () => {
  test('the oldest are removed when all together are too large; the newest stays', async () => {
    const store = createArtifactStore({ directory: newDirectory(), maxTotalBytes: 10 });
    for (const size of [4, 4, 4]) await store.save('bash', 'x'.repeat(size));
    expect(await idsOf(store)).toEqual(['1', '2']);
    await store.save('bash', 'x'.repeat(10));
    expect(await idsOf(store)).toEqual(['3']);
  });

  test('old artifacts are removed, but their ids are not reused', async () => {
    const directory = newDirectory();
    const old = createArtifactStore({ directory });
    await old.save('bash', 'a');
    const { path } = await old.save('bash', 'b');
    const abandoned = await old.draft('bash');
    writeFileSync(abandoned.path, 'half');
    const longAgo = Date.now() / 1000 - 30 * 24 * 3600;
    for (const name of readdirSync(directory)) utimesSync(`${directory}/${name}`, longAgo, longAgo);
    const store = createArtifactStore({ directory });
    expect(await idsOf(store)).toEqual([]);
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(directory)).toEqual(['.ids']);
    expect((await store.save('bash', 'c')).id).toBe('2');
  });

  test('files of others in the directory are left alone', async () => {
    const directory = newDirectory();
    mkdirSync(directory, { mode: 0o700 });
    const names = ['notes.txt', '01.bash.log', '1.bash', 'x.bash.log', '1.a.b.log'];
    for (const name of names) writeFileSync(`${directory}/${name}`, 'mine');
    const store = createArtifactStore({ directory, maxTotalBytes: 1, removeOnDispose: true });
    await store.save('bash', 'ab');
    expect(await idsOf(store)).toEqual(['0']);
    await store.dispose();
    expect(readdirSync(directory).sort()).toEqual(['.ids', ...names].sort());
  });
});

describe('the directory', () => {
  test('of its own is private, made when needed and gone after disposal', async () => {
    const store = createArtifactStore();
    expect(await store.list()).toEqual([]);
    const { path } = await store.save('bash', 'x');
    expect(modeOf(dirname(path))).toBe(0o700);
    expect(modeOf(dirname(dirname(path)))).toBe(0o700);
    await store.dispose();
    await store.dispose();
    expect(existsSync(dirname(path))).toBe(false);
    await expect(store.draft('bash')).rejects.toThrow('the artifact store was disposed');
  });

  test('that is given stays as it is after disposal', async () => {
    const store = createArtifactStore({ directory: newDirectory() });
    const { path } = await store.save('bash', 'x');
    await store.dispose();
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  test('that other users may look into is refused', async () => {
    const directory = newDirectory();
    mkdirSync(directory);
    chmodSync(directory, 0o755);
    const store = createArtifactStore({ directory });
    await expect(store.save('bash', 'x')).rejects.toThrow(
      `${directory}: expected mode 700, got 755`,
    );
  });
});

describe('missing artifacts', () => {
  test.each(['7', 'x', '', '../0', '-1', '1e0'])('the error for id %j lists ids', async (id) => {
    const store = createArtifactStore({ directory: newDirectory() });
    await expect(store.find(id)).rejects.toThrow(
      `Unknown artifact id: ${id}. No artifacts are available.`,
    );
    await store.save('bash', 'a');
    await store.save('bash', 'b');
    const error = await store.read(id).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ArtifactError);
    expect(error).toMatchObject({
      message: `Unknown artifact id: ${id}. Available: 0, 1`,
      available: ['0', '1'],
    });
  });
});

test.each([
  [{ directory: '' }, 'directory: expected a path, got ""'],
  [{ maxBytes: 0 }, 'maxBytes: expected a whole number from 1, got 0'],
  [{ maxTotalBytes: 1.5 }, 'maxTotalBytes: expected a whole number from 1, got 1.5'],
  [{ maxAgeMs: Number.NaN }, 'maxAgeMs: expected a whole number from 1, got NaN'],
])('the options %j are refused', (options, message) => {
  expect(() => createArtifactStore(options)).toThrow(message);
});

test('a relative TMPDIR makes no relative path: the host may change its directory', async () => {
  vi.stubEnv('TMPDIR', relative(process.cwd(), folder.path));
  try {
    const store = createArtifactStore();
    const { path } = await store.save('bash', 'x');
    expect(path.startsWith(`${folder.path}/forkline-`)).toBe(true);
    await store.dispose();
  } finally {
    vi.unstubAllEnvs();
  }
});
