// Is the process to which orphans fall, the first of a container or a subreaper; has children of its
// own too.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOwner, run } from '../../../dist/index.js';

/** Names of this process's children that are zombies. */
function zombies() {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const [, command = '', state, parent] =
        /\((.*)\) (\S) (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
      return state === 'Z' && Number(parent) === process.pid ? [command] : [];
    } catch {
      return [];
    }
  });
}

const owner = createOwner();

/** The exit codes of children that Node started, in the ways in which it can. */
async function ofNode() {
  const plain = Array.from({ length: 20 }, () => {
    return once(execFile('sh', ['-c', 'sleep 0.1; exit 3']), 'exit');
  });
  const detached = Array.from({ length: 20 }, () => {
    return once(spawn('sh', ['-c', 'sleep 0.1; exit 4'], { detached: true }), 'exit');
  });
  const exits = await Promise.all([...plain, ...detached]);
  return exits.map(([code]) => code);
}

const codes = ofNode();
const results = await Promise.all(
  Array.from({ length: 200 }, () => run('(sleep 0.01 &)', { owner })),
);
// Orphans that hold no pipe, in a session of their own and not, and one that dies only later.
await run('(sleep 0.3 &) >/dev/null; setsid sleep 0.6 >/dev/null & (sleep 1 & sleep 2) &', {
  owner,
});
const exitCodes = [...new Set(await codes)];
const deadline = Date.now() + 10_000;
await sleep(2500);
while (zombies().length > 0 && Date.now() < deadline) await sleep(50);
console.log(
  JSON.stringify({
    pid: process.pid,
    zombies: zombies(),
    exitCodes,
    outcomes: [...new Set(results.map(({ outcome }) => JSON.stringify(outcome)))],
  }),
);
await owner.dispose();
