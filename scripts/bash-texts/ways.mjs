// The three ways to run a text: by `bash -c`, by `run()`, and by a persistent shell.

import { spawn } from 'node:child_process';
import { createBashTool, run } from '../../dist/index.js';

/** @typedef {{ stdout: string, stderr: string, code: unknown }} Came */
/** @typedef {{ cwd: string, env: Record<string, string> }} Place */

/** In milliseconds, for `bash -c`: a text that takes longer is not judged; the other ways have more time. */
const LONGEST = 30_000;

/** How long output is read after the end, in milliseconds: on a busy machine it comes late. */
const LATE = 2000;

/** The `code` of a text that has not ended within that time. */
export const OVERTIME = 'overtime';

/**
 * @param {string} text
 * @param {Place} place
 * @returns {Promise<Came>}
 */
export function byBash(text, { cwd, env }) {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['--norc', '-c', text], {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    /** @type {[Buffer[], Buffer[]]} */
    const [out, err] = [[], []];
    child.stdout.on('data', (bytes) => out.push(bytes));
    child.stderr.on('data', (bytes) => err.push(bytes));
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    }, LONGEST);
    child.on('error', reject);
    child.on('exit', (status, signal) => {
      clearTimeout(timer);
      // A process that still holds a pipe is not waited for longer than forkline would.
      const late = setTimeout(() => child.stdout.destroy() && child.stderr.destroy(), LATE);
      child.on('close', () => {
        clearTimeout(late);
        const shown = (/** @type {Buffer[]} */ all) =>
          Buffer.concat(all).toString().replaceAll('\0', '␀');
        resolve({
          stdout: shown(out),
          stderr: shown(err),
          code: isOver ? OVERTIME : (signal ?? status),
        });
      });
    });
  });
}

/**
 * @param {string} text
 * @param {Place} place
 * @returns {Promise<Came>}
 */
export async function byRun(text, { cwd, env }) {
  const { outcome, stdout, stderr } = await run(text, {
    cwd,
    env,
    inheritEnv: 'none',
    streams: 'separate',
    timeoutMs: 2 * LONGEST,
    headBytes: 4_000_000,
  });
  const shown = (/** @type {typeof stdout} */ one) =>
    one.kind === 'complete' ? one.text : one.head;
  const ended = 'ending' in outcome ? outcome.ending : outcome;
  const code = 'exitCode' in ended ? ended.exitCode : 'signal' in ended ? ended.signal : ended.kind;
  return { stdout: shown(stdout), stderr: shown(stderr), code };
}

/**
 * @param {string} text
 * @param {Place} place
 * @returns {Promise<Came>}
 */
export async function byShell(text, { cwd, env }) {
  const tool = createBashTool({
    ...{ contract: 'session', persistent: true, cwd, env, inheritEnv: 'none', ci: false },
    ...{ maxCharacters: 1_000_000, timeoutMs: 2 * LONGEST, graceMs: 500 },
  });
  try {
    const { structured = {} } = await tool.execute({ command: text });
    const { stdout, stderr, exit_code, signal } = structured;
    return {
      stdout: String(stdout),
      stderr: String(stderr),
      code: exit_code ?? signal ?? 'unknown',
    };
  } finally {
    await tool.dispose();
  }
}
