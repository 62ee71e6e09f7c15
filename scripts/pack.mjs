// Packs forkline and its platform packages into a directory, for the machines whose binaries were built:
// `node scripts/pack.mjs DIRECTORY [--all]`. Prints the tarballs, the main package's first. With --all it
// refuses when one of package.json's targets is missing.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { stage } from './stage.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false } },
});
const [argument] = positionals;
if (!argument) {
  console.error('usage: node scripts/pack.mjs DIRECTORY [--all]');
  process.exit(2);
}
const destination = resolve(argument);

/**
 * Makes the tarball and returns its path. Runs no scripts, since `prepare` is for a checkout.
 * @param {string} directory
 */
function pack(directory) {
  const flags = ['--silent', '--ignore-scripts', '--pack-destination', destination];
  const name = execFileSync('npm', ['pack', ...flags], { cwd: directory, encoding: 'utf8' }).trim();
  return join(destination, name);
}

mkdirSync(destination, { recursive: true });
const staging = mkdtempSync(join(tmpdir(), 'forkline-pack-'));
try {
  const { main, platforms, fars } = await stage(staging, values);
  for (const directory of [main, ...platforms, ...fars]) console.log(pack(directory));
} finally {
  rmSync(staging, { recursive: true });
}
