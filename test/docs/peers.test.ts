import { expect, test } from 'vitest';
import { type EntryPoint, PEERS, type Peer, takenBy } from '../../src/support/peers/table.js';
import { read } from '../support/house.js';

const PAGE = 'docs/frameworks.md';
const peers = Object.entries(PEERS) as [EntryPoint, Peer][];

/** The table of versions as the page has it. */
function versionRows(): string {
  const rows = peers.map(([entry, { name, since, isNeeded }]) => {
    const missing = isNeeded ? 'refused' : 'no matter';
    return `| \`${entry}\` | \`${name}\` | ${takenBy(entry)} | ${since} | ${missing} |`;
  });
  const head = '| entry point | package | takes | older ones lack | missing |';
  return [head, '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

test('I2: the table of versions is that of the code', async () => {
  const page = read(PAGE).replace(
    /(?<=<!-- peers -->\n).*?(?=<!-- \/peers -->)/s,
    () => `${versionRows()}\n`,
  );
  await expect(page).toMatchFileSnapshot(`../../${PAGE}`);
});

test('I2: the table of examples names the same versions', () => {
  const cells = [...read(PAGE).matchAll(/^\| \[[^|]+\| `(forkline\/[\w-]+)` \| ([^|]+) \|/gm)];
  const named = new Map(cells.map(([, entry = '', cell = '']) => [entry, cell]));
  for (const [entry] of peers) {
    const cell = cells.find(([, name]) => name === entry)?.[2];
    if (cell !== undefined) expect(cell, entry).toContain(takenBy(entry));
  }
  expect(named.size).toBeGreaterThan(5);
});
