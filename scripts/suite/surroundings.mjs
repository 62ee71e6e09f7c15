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
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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
  const folder = realpathSync(mkdtempSync(join(writableTmp(), 'forkline-test-')));
  const tmp = join(folder, 'tmp');
  // Open to all, as /tmp is: root's tests run commands as others.
  chmodSync(folder, 0o755);
  mkdirSync(tmp);
  chmodSync(tmp, 0o1777);
  /** @type {string[]} */
  const made = [folder];
  const { env } = process;
  env.TMPDIR = tmp;
  env.HOME = usersHome() ?? ownHome(root, made);
  if (!isLocaleThere()) {
    for (const name of Object.keys(env)) if (/^(LANG|LANGUAGE|LC_.*)$/.test(name)) delete env[name];
  }
  return {
    async end() {
      if (made.length === 0) return [];
      const left = (await endProcesses(tmp)).map((line) => `still runs: ${line}`);
      left.push(...readdirSync(tmp).map((name) => `left in TMPDIR: ${name}`));
      for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
      return left;
    },
  };
}

/** TMPDIR as the user has it, or /tmp where that can't be written. */
function writableTmp() {
  return isWritable(tmpdir()) ? tmpdir() : '/tmp';
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
 * Waits for processes with this temporary directory, and ends those that stay.
 * @param {string} tmp
 * @returns {Promise<string[]>} The command lines of those.
 */
async function endProcesses(tmp) {
  const until = performance.now() + PATIENCE_MS;
  while (processesWith(tmp).length > 0 && performance.now() < until) await sleep(100);
  const left = processesWith(tmp);
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  return left.map(({ pid, line }) => `${pid} ${line}`);
}

/**
 * Processes that live and have this temporary directory in their environment.
 * @param {string} tmp
 * @returns {{ pid: number, line: string }[]}
 */
function processesWith(tmp) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const entries = readProc(pid, 'environ').split('\0');
    if (!entries.includes(`TMPDIR=${tmp}`) || Number(pid) === process.pid) return [];
    return [{ pid: Number(pid), line: readProc(pid, 'cmdline').replaceAll('\0', ' ').trim() }];
  });
}

/**
 * @param {string} pid
 * @param {string} file
 */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended, or is another user's.
    return '';
  }
}
