// The built files, their sources, and the scripts that build them; and whether they are up to date.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (
  process.report.getReport()
);
const machine = `${process.platform}-${process.arch}`;
const libc = report.header.glibcVersionRuntime ? 'gnu' : 'musl';
const rust = ['native', 'Cargo.toml', 'Cargo.lock', 'scripts/build-native.mjs'];

/**
 * @typedef {object} Build
 * @property {string} made A folder.
 * @property {readonly string[]} of Files and folders; a file that was removed shows at its folder.
 * @property {string} script The npm script that makes it.
 * @property {boolean} [optional] Its tests are skipped where it cannot be built.
 */

/** @type {readonly Build[]} */
export const builds = [
  { made: `native/prebuilt/${machine}-${libc}`, of: rust, script: 'build:native' },
  { made: 'dist', of: ['src', 'scripts/build-ts.mjs', 'scripts/bundle'], script: 'build:ts' },
  { made: `native/prebuilt/far-${machine}`, of: rust, script: 'build:far', optional: true },
];

/**
 * Returns a path and all paths below it, without built files.
 * @param {string} path
 * @returns {string[]}
 */
function below(path) {
  const entries = statSync(path).isDirectory() ? readdirSync(path) : [];
  const names = entries.filter((name) => name !== 'prebuilt' && name !== 'target');
  return [path, ...names.flatMap((name) => below(join(path, name)))];
}

/** @param {string} path */
const changedAt = (path) => statSync(path).mtimeMs;

/**
 * Returns why something has to be built; undefined if it is newer than its sources.
 * @param {string} root The checkout.
 * @param {Build} build
 * @returns {string | undefined}
 */
export function staleness(root, { made, of }) {
  const files = statSync(join(root, made), { throwIfNoEntry: false })
    ? below(join(root, made)).filter((path) => statSync(path).isFile())
    : [];
  if (files.length === 0) return `${made} is missing`;
  const sources = of.flatMap((path) => below(join(root, path)));
  const isOld = Math.min(...files.map(changedAt)) < Math.max(...sources.map(changedAt));
  return isOld ? `${made} is older than ${of[0]}` : undefined;
}
