import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { skipFor } from '../support/needs.js';
import { packEverything, type Tarballs } from './machine.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MEGABYTE = 1_000_000;
/** The share by which a page may be wrong: a figure of two digits that is rounded, and other compilers. */
const TOLERANCE = 0.08;
/** The most bytes of binaries without symbols; those of `npm run build:native -- --quick` have them. */
const STRIPPED = 4 * MEGABYTE;

let tarballs: Tarballs;

beforeAll(async () => {
  tarballs = await packEverything();
}, 300_000);

/** The bytes of a tarball's files. */
function unpacked(tarball: string): number {
  const listed = execFileSync('tar', ['tvf', tarball], { encoding: 'utf8' });
  const sizes = [...listed.matchAll(/^-\S+ +\S+ +(\d+) /gm)].map(([, bytes]) => Number(bytes));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

test.for(['README.md', 'docs/installing.md'])(
  'I14: %s says what an install brings: the main package, and that with the binaries',
  (page, context) => {
    const text = readFileSync(`${root}${page}`, 'utf8').replaceAll(/\s+/g, ' ');
    const [, download, disk] = /([\d.]+) MB to download, ([\d.]+) MB on disk/.exec(text) ?? [];
    const packages = [tarballs.main, tarballs.platform];
    const binaries = unpacked(tarballs.platform);
    if (binaries > STRIPPED) return skipFor(context, 'the binaries are of a quick build');
    const measured = {
      download: packages.reduce((sum, each) => sum + statSync(each).size, 0) / MEGABYTE,
      disk: packages.reduce((sum, each) => sum + unpacked(each), 0) / MEGABYTE,
    };
    const told =
      `${page} has to say "${measured.download.toFixed(1)} MB to download, ` +
      `${measured.disk.toFixed(1)} MB on disk"`;
    for (const [said, is] of [
      [Number(download), measured.download],
      [Number(disk), measured.disk],
    ] as const) {
      expect(Math.abs(said - is) / is, told).toBeLessThan(TOLERANCE);
    }
  },
);
