import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OutputKeeper } from '../../src/artifacts/keep-output.js';
import { createArtifactStore } from '../../src/index.js';
import { useFolder } from '../support/leftovers.js';

const folder = useFolder();

const textOf = async (read: Promise<Uint8Array>): Promise<string> =>
  Buffer.from(await read).toString();

test.each(['bash', 'bash-original'])(
  'a file that is still written is an artifact, and keeps its id (as %s)',
  async (tool) => {
    const directory = folder.file(`store of ${tool}`);
    const store = createArtifactStore({ directory });
    const keeper = await OutputKeeper.open(store, 'bash');
    const path = keeper.spill(0)?.path ?? '';
    expect(await keeper.soFar()).toBeUndefined();
    expect(keeper.isNamed).toBe(false);
    writeFileSync(path, 'one\n');
    const known = await Promise.all([keeper.soFar(), keeper.soFar()]);
    expect(known.map((one) => one?.id)).toEqual(['0', '0']);
    expect(keeper.isNamed).toBe(true);
    appendFileSync(path, 'two\n');
    expect(await textOf(store.read('0'))).toBe('one\ntwo\n');
    const kept = await keeper.finish({ path, bytes: 8, dropped: 0 }, tool);
    expect(kept).toMatchObject({ kind: 'kept', complete: true, artifact: { id: '0', bytes: 8 } });
    expect(await textOf(store.read('0'))).toBe('one\ntwo\n');
    expect(readdirSync(directory).sort()).toEqual(['.ids', `0.${tool}.log`]);
    expect((await store.save('bash', 'next')).id).toBe('1');
    await store.dispose();
  },
);

test('an artifact that was swept while it was written is there again at its end', async () => {
  const store = createArtifactStore({ directory: folder.file('swept') });
  const keeper = await OutputKeeper.open(store, 'bash');
  const path = keeper.spill(0)?.path ?? '';
  writeFileSync(path, 'all\n');
  rmSync((await keeper.soFar())?.path ?? '');
  await keeper.finish({ path, bytes: 4, dropped: 0 });
  expect(await textOf(store.read('0'))).toBe('all\n');
  await store.dispose();
});

test('a store that names no file early has it named by the path of its draft', async () => {
  const path = folder.file('draft of another store');
  const draft = async () => ({
    path,
    maxBytes: 10,
    keep: async () => undefined,
    discard: () => {},
  });
  const store = { ...createArtifactStore({ directory: folder.file('other') }), draft };
  const keeper = await OutputKeeper.open(store, 'bash');
  expect(await keeper.soFar()).toBeUndefined();
  writeFileSync(path, 'x');
  expect(await keeper.soFar()).toEqual({ path });
});
