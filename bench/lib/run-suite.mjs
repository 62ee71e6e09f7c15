/** @import { Message, Settings, SuiteResult } from './types.d.ts' */
import { fork } from 'node:child_process';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { whyNotBuilt } from './build-floor.mjs';
import { killDescendants } from './left-processes.mjs';
import { watchOtherWork } from './other-work.mjs';

const PROCESS = fileURLToPath(new URL('suite-process.mjs', import.meta.url));
const PATIENCE_MS = 10 * 60_000;
const ORPHANS_MS = 5000;
/** The time for a suite's process to end once it has reported. */
const END_MS = 10_000;

/**
 * The environment of every suite, and so of every command: small, and without variables that forkline
 * would remove but the floor would pass on. A larger environment makes a command slower.
 */
function environment() {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', TMPDIR } = process.env;
  const { username, homedir } = userInfo();
  const fixed = {
    PATH,
    HOME: homedir,
    USER: username,
    LOGNAME: username,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
  };
  return TMPDIR === undefined ? fixed : { ...fixed, TMPDIR };
}

/** Returns how orphans are adopted, and waited for: neither without the floor, and other work seems more then. */
async function orphans() {
  if (whyNotBuilt() !== undefined) return { adoptOrphans: () => {}, awaitOrphans: () => {} };
  // Imported late, since it had to be built first.
  return import('./floor.mjs');
}

/**
 * Measures a suite in a new process, without another suite's memory, threads or compiled code.
 * @param {string} name
 * @param {Settings} settings
 * @returns {Promise<SuiteResult>}
 */
export async function runSuite(name, settings) {
  const { adoptOrphans, awaitOrphans } = await orphans();
  adoptOrphans();
  const start = performance.now();
  const otherWork = watchOtherWork();
  const outcome = await inProcess(name, settings);
  const seconds = (performance.now() - start) / 1000;
  // forkline's keeper ends after its host, and does not count as another program.
  awaitOrphans(ORPHANS_MS);
  if (!('report' in outcome)) {
    // A program that a failed suite has started by itself has no keeper.
    killDescendants();
    awaitOrphans(ORPHANS_MS);
  }
  return { name, seconds, otherWork: otherWork(), ...outcome };
}

/**
 * @param {string} name
 * @param {Settings} settings
 * @returns {Promise<Message>}
 */
function inProcess(name, settings) {
  return new Promise((resolve) => {
    const child = fork(PROCESS, [name, JSON.stringify(settings)], {
      env: environment(),
      execArgv: ['--expose-gc'],
    });
    /** @type {Message | undefined} */
    let message;
    let late = false;
    let patience = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, PATIENCE_MS);
    child.once('message', (received) => {
      message = /** @type {Message} */ (received);
      clearTimeout(patience);
      patience = setTimeout(() => child.kill('SIGKILL'), END_MS);
    });
    child.once('error', (error) => resolve({ failure: error.message }));
    child.once('exit', (code, signal) => {
      clearTimeout(patience);
      if (message) return resolve(message);
      const how = late ? `took over ${PATIENCE_MS / 60_000} minutes` : `ended by ${signal ?? code}`;
      resolve({ failure: `its process ${how} before it reported` });
    });
  });
}
