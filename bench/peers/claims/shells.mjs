// How each peer runs one command of a shell, as its documentation recommends.
/** @import { ChildProcess } from 'node:child_process' */
import { exec, spawn } from 'node:child_process';
import { once } from 'node:events';
import nodePty from '@lydell/node-pty';
import { execa } from 'execa';

/**
 * @typedef {object} Ended
 * @property {string} text stdout and stderr as they came
 * @property {number | null} code
 * @property {number} ms duration
 */

/**
 * @typedef {object} Started
 * @property {() => string} text the output so far
 * @property {Promise<Ended>} ended
 * @property {() => void} kill ends it by the peer's own method, without arguments
 */

/** @typedef {(command: string, env?: NodeJS.ProcessEnv) => Started} Shell */

/**
 * @param {ChildProcess} child
 * @param {Promise<number | null>} closed
 * @returns {Started}
 */
function following(child, closed) {
  const start = performance.now();
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
  }
  const ended = closed.then((code) => ({ text, code, ms: performance.now() - start }));
  return { text: () => text, ended, kill: () => void child.kill() };
}

/** @type {Shell} */
const inChildProcess = (command, env = process.env) => {
  const child = spawn('/bin/bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'], env });
  return following(
    child,
    once(child, 'close').then(([code]) => code),
  );
};

/** @type {Shell} */
const inExeca = (command, env = process.env) => {
  const child = execa('/bin/bash', ['-c', command], {
    stdin: 'ignore',
    reject: false,
    env,
    extendEnv: false,
  });
  return following(
    /** @type {ChildProcess} */ (/** @type {unknown} */ (child)),
    child.then(({ exitCode }) => exitCode ?? null),
  );
};

/** @type {Shell} */
const inNodePty = (command, env = process.env) => {
  const start = performance.now();
  const child = nodePty.spawn('/bin/bash', ['-c', command], { env });
  let text = '';
  child.onData((data) => {
    text += data;
  });
  /** @type {Promise<Ended>} */
  const ended = new Promise((resolve) => {
    child.onExit(({ exitCode }) => {
      // The last output may come after the exit event.
      setTimeout(() => resolve({ text, code: exitCode, ms: performance.now() - start }), 500);
    });
  });
  return { text: () => text, ended, kill: () => child.kill() };
};

/** The peers, by the names that they have in the README. */
export const SHELLS = { child_process: inChildProcess, execa: inExeca, 'node-pty': inNodePty };

/**
 * Returns why `exec()` of `child_process` and execa with its defaults have ended a command with much
 * output.
 * @param {number} bytes
 */
export async function endedForOutput(bytes) {
  // Not zeros: from that many, execa 9.6 makes a message that crashes V8.
  const command = `head -c ${bytes} /dev/zero | tr '\\0' x`;
  const ofExec = await new Promise((resolve) => {
    exec(command, (error) => resolve(error?.code));
  });
  const { isMaxBuffer } = await execa('/bin/bash', ['-c', command], { reject: false });
  return { exec: ofExec, execa: isMaxBuffer };
}
