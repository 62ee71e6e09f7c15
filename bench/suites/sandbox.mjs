// P16: a sandbox's cost for a command; bubblewrap, where it is installed, for comparison.
/** @import { Peer, Suite } from '../lib/types.d.ts' */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, milliseconds, ratioRow, report, times } from '../lib/rows.mjs';
import { overallMedian, ratio } from '../lib/statistics.mjs';
import { ECHO, echoTask } from '../lib/tasks.mjs';
import { loadForkline } from '../peers/forkline.mjs';
import { childProcess } from '../peers/index.mjs';

const { run } = await loadForkline();

/**
 * @param {string} cwd
 * @param {'danger-full-access' | 'workspace-write'} sandbox
 * @param {string} name
 * @returns {Peer}
 */
const forklineIn = (cwd, sandbox, name) => ({
  name,
  run: async (command) => {
    const { output } = await run(command, { cwd, sandbox });
    return output.kind === 'complete' ? output.text : output.head;
  },
});

/** @returns {boolean} */
function hasBubblewrap() {
  try {
    execFileSync('bwrap', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * The same policy as far as possible: files read-only but for one directory, /tmp, /dev, /proc and all
 * namespaces of its own.
 * @param {string} cwd
 * @returns {Peer}
 */
function bubblewrap(cwd) {
  const flags = [
    ...['--ro-bind', '/', '/', '--tmpfs', '/tmp', '--dev', '/dev', '--proc', '/proc'],
    ...['--bind', cwd, cwd, '--unshare-all', '--die-with-parent', '--chdir', cwd],
  ].join(' ');
  return {
    name: 'child_process with bubblewrap',
    run: (command) => childProcess.run(`exec bwrap ${flags} /bin/bash -c '${command}'`),
  };
}

const PLAIN = 'forkline';
const SANDBOXED = 'forkline in a sandbox';

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const cwd = mkdtempSync(join(tmpdir(), 'forkline-bench-'));
    try {
      const peers = [
        forklineIn(cwd, 'danger-full-access', PLAIN),
        forklineIn(cwd, 'workspace-write', SANDBOXED),
        childProcess,
        ...(hasBubblewrap() ? [bubblewrap(cwd)] : []),
      ];
      const tasks = peers.map(echoTask);
      await warmUp(tasks);
      const samples = await interleave(tasks, { rounds: quick ? 8 : 40, iterations: 10 });
      const others = peers.slice(2).map(({ name }) => name);
      const row = ratioRow({
        id: 'P16',
        what: `run('${ECHO}') in a sandbox, p50`,
        figure: milliseconds(overallMedian(samples(SANDBOXED))),
        to: `without ${milliseconds(overallMedian(samples(PLAIN)))}`,
        value: ratio(samples(SANDBOXED), samples(PLAIN)),
        target: atMost(1.2),
        others: Object.fromEntries(
          others.map((name) => [name, times(ratio(samples(name), samples(PLAIN)))]),
        ),
      });
      return report([row], samples, [PLAIN, SANDBOXED, ...others]);
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  },
};
