// Checks that the binaries for glibc start on the oldest promised version: their symbol tables need no
// newer one. `node scripts/glibc-floor.mjs`, for those in native/prebuilt that are to be released.

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version of RHEL 8, and of Debian 10. */
const FLOOR = [2, 28];

const prebuilt = join(dirname(dirname(fileURLToPath(import.meta.url))), 'native', 'prebuilt');

/**
 * @param {string} file
 * @returns {[number, number]} The newest version of the symbols that it needs.
 */
function needed(file) {
  const table = execFileSync('readelf', ['--wide', '--version-info', file], { encoding: 'utf8' });
  const versions = [...table.matchAll(/\bGLIBC_(\d+)\.(\d+)/g)].map(
    ([, major, minor]) => /** @type {[number, number]} */ ([Number(major), Number(minor)]),
  );
  return versions.sort(compare).at(-1) ?? [0, 0];
}

/**
 * @param {readonly number[]} one
 * @param {readonly number[]} other
 */
function compare([major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]) {
  return major - otherMajor || minor - otherMinor;
}

const machines = readdirSync(prebuilt).filter((name) => name.endsWith('-gnu'));
const files = machines.flatMap((machine) =>
  readdirSync(join(prebuilt, machine))
    .filter((name) => /\.node$|^forkline-keeper$/.test(name))
    .map((name) => join(prebuilt, machine, name)),
);
for (const file of files) {
  const newest = needed(file);
  const isOld = compare(newest, FLOOR) <= 0;
  console.log(`${isOld ? 'ok    ' : 'FAILED'} ${file}: GLIBC_${newest.join('.')}`);
  if (!isOld) process.exitCode = 1;
}
if (files.length === 0) throw new Error(`${prebuilt} has no binaries for glibc`);
