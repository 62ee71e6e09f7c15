import { ownRequire } from '../../support/package/own-require.js';
import { packageVersion } from '../../support/package/version.js';
import { type Finding, fine, limited } from './finding.js';

/**
 * Differences of the portable engine from the native one, in short; docs/portable.md has all of them.
 */
const LIMITS: readonly (readonly [name: string, found: string, cost: string])[] = [
  [
    'leftovers',
    'looked for in the process group of a command',
    'a daemon that has left the group is neither named nor ended',
  ],
  ['detached tasks', 'none', 'no command can outlive its host; `modes` has no background mode'],
  ['persistent shell', 'none', '`session` starts a bash for each call'],
  ['launch', "by Node's fork, on the main thread", 'it takes longer the more memory the host has'],
  ['CPU time and memory of commands', 'not measured', '`cpu` and `peakMemory` are left out'],
];

/** Describes the portable engine, and what its commands lack. */
export function portableEngine(): Finding[] {
  const found = `portable, forkline ${packageVersion()}`;
  return [
    limited('engine', found, 'it promises less than the native one: see docs/portable.md'),
    ...LIMITS.map((limit) => limited(...limit)),
    terminals(),
  ];
}

function terminals(): Finding {
  const require = ownRequire();
  for (const name of ['node-pty', '@lydell/node-pty']) {
    try {
      return fine('terminals', `by ${name}, ${require.resolve(name)}`);
    } catch {
      // The other one may be there.
    }
  }
  const cost = '`pty` is refused; `npm install node-pty` allows it';
  return limited('terminals', 'node-pty is not installed', cost);
}
