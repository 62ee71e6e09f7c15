// The texts of bash's own tests, which are under the GPL and so not in this repository: fetched once,
// checked, and kept beside the packages of npm.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../vitest.mjs';

const VERSION = '5.2.15';
const DIGEST = '7a315bc0e9d90713159e4390ec1096a41e4f33cd8cc3d1a749a8e5ad56600f51';
const PLACES = [
  `http://deb.debian.org/debian/pool/main/b/bash/bash_${VERSION}.orig.tar.gz`,
  `https://snapshot.debian.org/archive/debian/20230101T000000Z/pool/main/b/bash/bash_${VERSION}.orig.tar.gz`,
];
/** Programs that the texts expect on their path; without a compiler all ways lack them alike. */
const PROGRAMS = ['recho', 'zecho', 'xcase', 'printenv'];

/** @param {string} place */
async function download(place) {
  const answer = await fetch(place, { signal: AbortSignal.timeout(120_000) });
  if (!answer.ok) throw new Error(`${place}: ${answer.status}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (digest !== DIGEST) throw new Error(`${place}: its sha256 is ${digest}`);
  return bytes;
}

/** Downloads the archive from the first place that has it; returns undefined when none can be reached. */
async function archive() {
  for (const place of PLACES) {
    try {
      return await download(place);
    } catch (error) {
      console.log(`not fetched: ${error instanceof Error ? error.message : error}`);
    }
  }
  return undefined;
}

/**
 * Returns the directory of bash's sources, with the programs that its tests use.
 * @returns {Promise<string | undefined>} Undefined: they cannot be downloaded.
 */
export async function bashSource() {
  const cache = join(root, 'node_modules', '.cache', 'bash-texts');
  const folder = join(cache, `bash-${VERSION}`);
  if (existsSync(folder)) return folder;
  const bytes = await archive();
  if (bytes === undefined) return undefined;
  const making = join(cache, `making-${process.pid}`);
  mkdirSync(making, { recursive: true });
  try {
    writeFileSync(join(making, 'bash.tar.gz'), bytes);
    const unpacked = spawnSync('tar', ['xzf', 'bash.tar.gz'], { cwd: making, stdio: 'inherit' });
    if (unpacked.status !== 0) throw new Error('the archive could not be unpacked');
    const made = join(making, `bash-${VERSION}`);
    // Their configuration makes this file, of which these programs need nothing.
    writeFileSync(join(made, 'config.h'), '');
    const options = [
      '-w',
      '-std=gnu89',
      '-DHAVE_UNISTD_H',
      '-DHAVE_STDLIB_H',
      '-DHAVE_STRING_H',
      '-DHAVE_STRINGS_H',
    ];
    for (const name of PROGRAMS) {
      const [from, to] = [join(made, 'support', `${name}.c`), join(made, 'tests', name)];
      spawnSync('cc', [...options, `-I${made}`, `-I${join(made, 'support')}`, '-o', to, from], {
        stdio: 'ignore',
      });
    }
    renameSync(made, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}
