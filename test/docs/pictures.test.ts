import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { draw } from '../../scripts/pictures/make.mjs';
import { read, root } from '../support/house.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();

/** Made of what a run has measured or recorded, which no other run repeats. */
const RECORDED = ['benchmarks.svg', 'plots.svg', 'terminal.svg'];

test('the pictures are what `npm run docs:pictures` draws now', async () => {
  const drawn = await draw();
  const committed = Object.keys(drawn).map((name) => [name, read(`docs/pictures/${name}`)]);
  expect(Object.fromEntries(committed)).toEqual(drawn);
});

test('every picture has a script that draws it, a title, and a page that shows it', async () => {
  const names = readdirSync(join(root, 'docs/pictures'));
  expect(names).toEqual([...Object.keys(await draw()), ...RECORDED].sort());
  const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)];
  const text = pages
    .filter((page) => page.endsWith('.md'))
    .map(read)
    .join('\n');
  for (const name of names) {
    expect(read(`docs/pictures/${name}`)).toMatch(/<title>[^<]+<\/title>/);
    expect(text).toContain(`pictures/${name})`);
  }
});
