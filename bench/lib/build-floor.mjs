import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** Builds the floor with cmake-js if needed; prints nothing unless it fails. */
export function buildFloor() {
  if (upToDate()) return;
  console.error('building the floor (bench/floor)');
  const cmakeJs = createRequire(import.meta.url).resolve('cmake-js/bin/cmake-js');
  const built = spawnSync(process.execPath, [cmakeJs, 'compile', '--directory', FLOOR], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (built.status === 0) return;
  throw new Error(`cmake-js could not build the floor:\n${built.stdout}${built.stderr}`);
}
