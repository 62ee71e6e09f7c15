// The private surroundings of a run of the tests, wherever it is started: a temporary directory, which is
// removed at the end; a home, if the user has none; a locale that exists; the usual umask. Files left in
// that directory, and processes that use it, are this run's and no other's.

import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf, killAll, lives, others } from './processes.mjs';

const isRoot = process.getuid?.() === 0;

/** How long a process of the tests may take to end after them. */
const PATIENCE_MS = 10_000;

/**
 * @typedef {object} Surroundings
 * @property {() => Promise<string[]>} end Removes what was made, ends processes that still run, and
 * returns the names of both.
 */

/**
 * Makes the surroundings, and changes this process's environment and umask to them.
 * @param {string} root The checkout.
 * @returns {Surroundings}
 */
export function makeSurroundings(root) {
  process.umask(0o022);
  const folder = realpathSync(mkdtempSync(join(suitableTmp(), 'forkline-test-')));
  const tmp = join(folder, 'tmp');
  // Open to all users, like /tmp: root's tests run commands as others.
  chmodSync(folder, 0o755);
  mkdirSync(tmp);
  chmodSync(tmp, 0o1777);
  /** @type {string[]} */
  const made = [folder];
  const { env } = process;
  env.TMPDIR = tmp;
  // For the records of detached tasks, outside of the user's own.
  env.XDG_STATE_HOME = join(folder, 'state');
  // Interactive shells have nothing to remember.
  env.HISTFILE = '/dev/null';
  // Files that test files share, such as the packed packages.
  env.FORKLINE_RUN = folder;
  env.HOME = usersHome() ?? ownHome(root, made);
  const scenes = placeOfScenes(root);
  if (scenes !== undefined) {
    env.FORKLINE_SCENES = mkdtempSync(join(scenes, 'forkline-scenes-'));
    chmodSync(env.FORKLINE_SCENES, 0o755);
    made.push(env.FORKLINE_SCENES);
  }
  if (!isLocaleThere()) {
    for (const name of Object.keys(env)) if (/^(LANG|LANGUAGE|LC_.*)$/.test(name)) delete env[name];
  }
  return {
    async end() {
      if (made.length === 0) return [];
      const left = (await endProcesses(tmp)).map((line) => `still runs: ${line}`);
      left.push(...filesIn(tmp).map((name) => `left in TMPDIR: ${name}`));
      for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
      return left;
    },
  };
}

/**
 * Lists the files left there; for the directory that all hosts of a user share, and which stays, its
 * contents. Files in it that are named after the process of a killed host are removed by the next host.
 * @param {string} tmp
 */
function filesIn(tmp) {
  return readdirSync(tmp).flatMap((name) => {
    if (!/^forkline-\d+$/.test(name)) return [name];
    const inside = readdirSync(join(tmp, name)).filter((inner) => {
      const [, pid] = /-(\d+)-/.exec(inner) ?? [];
      return inner !== 'ports' && (pid === undefined || lives(Number(pid)));
    });
    // Which ports are published: the directory stays as well, and its files are named by a process.
    const ports = join(tmp, name, 'ports');
    const published = existsSync(ports) ? readdirSync(ports) : [];
    const living = published.filter((file) => lives(Number.parseInt(file, 10)));
    return [...inside, ...living.map((file) => join('ports', file))].map((one) => join(name, one));
  });
}

/**
 * The user's TMPDIR; or /tmp, where tests cannot have their files in TMPDIR: it is not writable, its name
 * is no plain word of a command line or too long for a socket, or other users could not enter it.
 */
function suitableTmp() {
  const places = [tmpdir(), '/tmp', '/var/tmp'];
  const isSuitable = (/** @type {string} */ path) => isPlain(path) && isOpen(path);
  return (
    places.find((path) => isWritable(path) && isSuitable(realpathSync(path))) ??
    places.find(isWritable) ??
    '/tmp'
  );
}

/**
 * Returns the folder for sandboxed tests, outside of the directories that a sandbox replaces by its own.
 * @param {string} root
 * @returns {string | undefined}
 */
function placeOfScenes(root) {
  const build = join(root, 'build');
  mkdirSync(build, { recursive: true });
  const isReplaced = /^\/(tmp|var\/tmp|dev\/shm|run)\//.test(`${realpathSync(build)}/`);
  const isSuitable = isPlain(build) && isOpen(build) && !isReplaced;
  const places = [...(isSuitable ? [build] : []), isRoot ? '/srv' : usersHome()];
  return places.find((path) => path !== undefined && isWritable(path));
}

/** @param {string} path */
const isPlain = (path) => /^[\w./+-]{1,60}$/.test(path);

/**
 * Returns whether the users of the tests' commands can enter a path: for root these are other users, too.
 * @param {string} path
 * @returns {boolean}
 */
function isOpen(path) {
  if (!isRoot || path === '/') return true;
  return (statSync(path).mode & 0o001) !== 0 && isOpen(dirname(path));
}

/** @param {string} path */
function isWritable(path) {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the user's home by the environment, or by the list of users; undefined if there is none. */
function usersHome() {
  try {
    const home = homedir();
    return isWritable(home) && home !== '/' ? home : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes a home for this run, outside of the directories that sandboxes replace.
 * @param {string} root
 * @param {string[]} made Paths to be removed.
 */
function ownHome(root, made) {
  mkdirSync(join(root, 'build'), { recursive: true });
  const home = mkdtempSync(join(root, 'build', 'home-'));
  made.push(home);
  return home;
}

/** Returns whether the requested locale exists, by a warning of bash. */
function isLocaleThere() {
  const { stderr } = spawnSync('bash', ['--norc', '-c', ':'], { encoding: 'utf8' });
  return !stderr?.includes('setlocale');
}

/**
 * Waits for processes with this temporary directory in their environment, and ends the remaining ones.
 * @param {string} tmp
 * @returns {Promise<string[]>} Their command lines.
 */
async function endProcesses(tmp) {
  const theirs = () => others().filter(({ environment }) => environment.includes(`TMPDIR=${tmp}`));
  const until = performance.now() + PATIENCE_MS;
  while (theirs().length > 0 && performance.now() < until) await sleep(100);
  const left = theirs();
  const lines = left.map(({ pid }) => `${pid} ${commandLineOf(pid)}`);
  killAll(left);
  return lines;
}
