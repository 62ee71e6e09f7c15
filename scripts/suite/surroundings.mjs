// What a run of the tests has for itself, whoever starts it and wherever: a temporary directory, which
// is removed at the end; a home, where the user has none; a locale that is there; the usual umask.
// What is left in that directory, or runs with it, is left by this run and by no other.

import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
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
 * @property {() => Promise<string[]>} end Removes what was made, ends what still runs, and says what either was.
 */

/**
 * Makes them, and has this process in them: its environment and its umask.
 * @param {string} root The checkout.
 * @returns {Surroundings}
 */
export function makeSurroundings(root) {
  process.umask(0o022);
  const folder = realpathSync(mkdtempSync(join(suitableTmp(), 'forkline-test-')));
  const tmp = join(folder, 'tmp');
  // Open to all, as /tmp is: root's tests run commands as others.
  chmodSync(folder, 0o755);
  mkdirSync(tmp);
  chmodSync(tmp, 0o1777);
  /** @type {string[]} */
  const made = [folder];
  const { env } = process;
  env.TMPDIR = tmp;
  // What files of tests share, such as the packed packages.
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
 * What lies there; of the directory that all hosts of a user share, and which stays, what is in it. What a host
 * that was killed has left in that, by whose process it is named, the next one removes.
 * @param {string} tmp
 */
function filesIn(tmp) {
  return readdirSync(tmp).flatMap((name) => {
    if (!/^forkline-\d+$/.test(name)) return [name];
    const inside = readdirSync(join(tmp, name)).filter((inner) => {
      const [, pid] = /-(\d+)-/.exec(inner) ?? [];
      return pid === undefined || lives(Number(pid));
    });
    return inside.map((inner) => join(name, inner));
  });
}

/**
 * The user's TMPDIR; or /tmp, where tests can't have their files in that: it can't be written, its name is no
 * plain word of a command line or too long for a socket, or root's tests could not run others there.
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
 * The folder of those who are to be confined, in none that a sandbox replaces by its own.
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
 * Whether whom the tests run commands as can get there: root has them be others, too.
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

/** The user's home by the environment, or else by the list of users; undefined if there is none. */
function usersHome() {
  try {
    const home = homedir();
    return isWritable(home) && home !== '/' ? home : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes a home for this run, where sandboxes have no directories of their own.
 * @param {string} root
 * @param {string[]} made What has to be removed.
 */
function ownHome(root, made) {
  mkdirSync(join(root, 'build'), { recursive: true });
  const home = mkdtempSync(join(root, 'build', 'home-'));
  made.push(home);
  return home;
}

/** Whether bash, which says so, finds the locale that is asked for. */
function isLocaleThere() {
  const { stderr } = spawnSync('bash', ['--norc', '-c', ':'], { encoding: 'utf8' });
  return !stderr?.includes('setlocale');
}

/**
 * Waits for processes with this temporary directory in their environment, and ends those that stay.
 * @param {string} tmp
 * @returns {Promise<string[]>} The command lines of those.
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
