import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { absence, isOnPath, notInstalled } from './not-measured.mjs';

const FLOOR = fileURLToPath(new URL('../floor', import.meta.url));
const LAUNCH = fileURLToPath(new URL('../../native/launch', import.meta.url));
const RELEASE = join(FLOOR, 'build', 'Release');
export const FLOOR_FILE = join(RELEASE, 'floor.node');
/** A client of an HTTP server, for measurements that must not be made by JavaScript. */
export const CLIENT_FILE = join(RELEASE, 'client');

/** @param {string} folder */
const newest = (folder) =>
  Math.max(...readdirSync(folder).map((file) => statSync(join(folder, file)).mtimeMs));

/** Returns whether the addon exists and no source of it has changed since. */
function upToDate() {
  if (!existsSync(FLOOR_FILE) || !existsSync(CLIENT_FILE)) return false;
  return statSync(FLOOR_FILE).mtimeMs > Math.max(newest(join(FLOOR, 'src')), newest(LAUNCH));
}

/** Returns what is missing for a build, and where to get it; undefined: nothing. */
function lacking() {
  const reason = absence('cmake-js/bin/cmake-js') ?? absence('node-addon-api');
  if (reason !== undefined) return reason;
  if (!isOnPath('cmake')) return notInstalled('cmake', "Debian's package cmake");
  if (!['ninja', 'make'].some(isOnPath)) return notInstalled('ninja', "Debian's ninja-build");
  const compilers = [process.env.CXX ?? 'c++', 'c++', 'g++', 'clang++'];
  const has = compilers.some((name) => existsSync(name) || isOnPath(name));
  return has ? undefined : notInstalled('a C++ compiler', "Debian's package g++");
}

/** Returns why the floor is not there as its sources are now; undefined: it is there. */
export const whyNotBuilt = () =>
  upToDate() ? undefined : (lacking() ?? '`node bench/run.mjs` builds it');

/** Builds the floor with cmake-js if needed and possible; prints nothing unless it fails. */
export function buildFloor() {
  if (upToDate()) return;
  const reason = lacking();
  if (reason !== undefined) return console.error(`the floor (bench/floor) is not built: ${reason}`);
  console.error('building the floor (bench/floor)');
  const cmakeJs = createRequire(import.meta.url).resolve('cmake-js/bin/cmake-js');
  const built = spawnSync(process.execPath, [cmakeJs, 'compile', '--directory', FLOOR], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (built.status === 0) {
    // Where no source is really another, nothing was made anew.
    for (const file of [FLOOR_FILE, CLIENT_FILE]) utimesSync(file, new Date(), new Date());
    return;
  }
  throw new Error(`cmake-js could not build the floor:\n${built.stdout}${built.stderr}`);
}
