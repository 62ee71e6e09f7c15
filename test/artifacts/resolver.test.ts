import { expect, test } from 'vitest';
import { artifactResolver, createArtifactStore } from '../../src/index.js';
import { useFolder } from '../support/leftovers.js';

const folder = useFolder();

test('an artifact URL is the path of its file', async () => {
  const directory = folder.file('resolved');
  const store = createArtifactStore({ directory });
  const resolver = artifactResolver(store);
  await expect(resolver.resolve('artifact://0')).rejects.toThrow(
    'Unknown artifact id: 0. No artifacts are available.',
  );
  await store.save('bash', 'x');
  expect(resolver.scheme).toBe('artifact');
  expect(await resolver.resolve('artifact://0')).toEqual({ path: `${directory}/0.bash.log` });
  await expect(resolver.resolve('artifact://12')).rejects.toThrow(
    'Unknown artifact id: 12. Available: 0',
  );
});

test.each(['artifact://', 'artifact://x', 'artifact://../0', 'artifact://0/../1', 'local://0'])(
  '%s is no artifact URL',
  async (url) => {
    await expect(artifactResolver(createArtifactStore()).resolve(url)).rejects.toThrow(
      `${url}: expected artifact:// and a number, such as artifact://0`,
    );
  },
);

test('of many ids the error lists the last', async () => {
  const store = createArtifactStore({ directory: folder.file('many') });
  for (let index = 0; index < 25; index += 1) await store.save('bash', 'x');
  await expect(artifactResolver(store).resolve('artifact://99')).rejects.toThrow(
    /Available: 5 older, 5, 6, .*, 24$/,
  );
});
