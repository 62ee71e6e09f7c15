// P16: a sandbox's cost for a command; bubblewrap, where it is installed, for comparison.
/** @import { Peer, Suite } from '../lib/types.d.ts' */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasProgram, leaveOut } from '../lib/left-out.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, milliseconds, ratioRow, ratiosTo, report } from '../lib/rows.mjs';
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

/** Returns whether bubblewrap is there, and may make namespaces here. */
const hasBubblewrap = () =>
  hasProgram(
    'bubblewrap',
    ['bwrap', '--ro-bind', '/', '/', '--unshare-all', '/bin/true'],
    "Debian's package bubblewrap",
  );

const PLAIN = 'forkline';
const SANDBOXED = 'forkline in a sandbox';
const GATED = 'forkline in a sandbox with the gate';

/**
 * Makes a repository in a folder, whose sandbox has git's directory behind the gate.
 * @param {string} folder
 * @returns {Promise<Peer[]>} none where there is no gate
 */
async function gated(folder) {
  if (!hasProgram('git', ['git', 'init', '--quiet', folder], "Debian's package git")) return [];
  const { sandbox } = await run('true', { cwd: folder, sandbox: 'workspace-write' });
  if (sandbox?.enforced.settings === 'gate') {
    return [forklineIn(folder, 'workspace-write', GATED)];
  }
  leaveOut('the gate of a sandbox does not work here (`forkline doctor` says why)');
  return [];
}

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const folder = mkdtempSync(join(tmpdir(), 'forkline-bench-'));
    try {
      return await measure(join(folder, 'plain'), join(folder, 'repository'), quick);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/**
 * @param {string} cwd
 * @param {string} repository
 * @param {boolean} quick
 */
async function measure(cwd, repository, quick) {
  for (const folder of [cwd, repository]) mkdirSync(folder);
  const sandboxed = [forklineIn(cwd, 'workspace-write', SANDBOXED), ...(await gated(repository))];
  const others = [childProcess, ...(hasBubblewrap() ? [bubblewrap(cwd)] : [])];
  const tasks = [forklineIn(cwd, 'danger-full-access', PLAIN), ...sandboxed, ...others].map(
    echoTask,
  );
  await warmUp(tasks);
  const samples = await interleave(tasks, { rounds: quick ? 8 : 40, iterations: 10 });
  const rows = sandboxed.map(({ name }) =>
    ratioRow({
      id: 'P16',
      what: `run('${ECHO}') in a sandbox, p50${name === GATED ? ', with the gate' : ''}`,
      figure: milliseconds(overallMedian(samples(name))),
      to: `without ${milliseconds(overallMedian(samples(PLAIN)))}`,
      value: ratio(samples(name), samples(PLAIN)),
      target: atMost(1.15),
      others:
        name === GATED
          ? {}
          : ratiosTo(
              samples,
              others.map((other) => other.name),
              PLAIN,
            ),
    }),
  );
  return report(
    rows,
    samples,
    tasks.map(({ name }) => name),
  );
}
