// @module-tag slow
import { describe, expect, test } from 'vitest';
import { CLAIMS } from '../../bench/peers/claims/claims.mjs';
import { read } from '../support/house.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();

const [, table = ''] =
  /^## What it does that others don't\n(.*?)^## /ms.exec(read('README.md')) ?? [];
const rows = table
  .split('\n')
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .filter((cells) => cells.length > 4);

describe.each(CLAIMS)('G10: of $row the README says "$says"', ({ row, peers, says, holds }) => {
  test.each(peers)('of %s', async (peer) => {
    const [, , , onPipes = '', onTerminals = ''] =
      rows.find(([, first = '']) => first.startsWith(row)) ?? [];
    expect(peer === 'node-pty' ? onTerminals : onPipes).toContain(says);
    expect(await holds(peer)).toBe(true);
  });
});

test('G10: the README names the versions of those it compares with', () => {
  const versionOf = (name: string): string =>
    JSON.parse(read(`node_modules/${name}/package.json`)).version;
  expect(table.replaceAll(/\s+/g, ' ')).toContain(`execa ${versionOf('execa')}`);
  expect(table.replaceAll(/\s+/g, ' ')).toContain(`node-pty ${versionOf('@lydell/node-pty')}`);
});
