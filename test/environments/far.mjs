// What the far side without Node must do on any machine, asked by an installed forkline:
// `node far.mjs PROGRAM`. Prints a line of JSON for each check, as smoke.mjs does.

import { existsSync } from 'node:fs';
import { connect } from 'forkline/remote';

const [, , program = 'forkline-far'] = process.argv;
const far = await connect({ command: [program, 'serve', '--stdio'] });
const isAlive = (/** @type {number} */ pid) => existsSync(`/proc/${pid}/stat`);

/** @param {import('forkline').Capture} capture */
const textOf = (capture) => (capture.kind === 'complete' ? capture.text : capture.head);

/** @typedef {readonly [expected: unknown, check: () => unknown]} Check */

/** @type {Record<string, Check>} */
const CHECKS = {
  'far: the output of a command, and its exit code': [
    ['hi\n', { kind: 'exited', exitCode: 3 }],
    async () => {
      const { output, outcome } = await far.run('echo hi; exit 3');
      return [textOf(output), outcome];
    },
  ],
  'far: stdin, and separate streams': [
    ['yes', 'no\n'],
    async () => {
      const result = await far.run('cat; echo no >&2', { input: 'yes', streams: 'separate' });
      return [textOf(result.stdout), textOf(result.stderr)];
    },
  ],
  'far: a timeout, with a process that has left its group': [
    ['timedOut', false],
    async () => {
      const line = 'setsid sleep 300 & echo $!; wait';
      const { outcome, output } = await far.run(line, { timeoutMs: 300, graceMs: 500 });
      return [outcome.kind, isAlive(Number(textOf(output)))];
    },
  ],
  'far: a cancelled command': [
    'cancelled',
    async () => (await far.run('sleep 300', { signal: AbortSignal.timeout(200) })).outcome.kind,
  ],
  'far: a terminal': [
    'yes',
    async () => textOf((await far.run('test -t 1 && echo yes', { pty: true })).output).trim(),
  ],
  'far: that it has no tools': [false, () => far.hasTools],
  'far: what it leaves running is ended with its connection': [
    [true, false],
    async () => {
      const pid = Number(textOf((await far.run('sleep 300 >/dev/null & echo $!')).output));
      const before = isAlive(pid);
      await far.dispose();
      return [before, isAlive(pid)];
    },
  ],
};

const say = (/** @type {object} */ line) => console.log(JSON.stringify(line));

for (const [name, [expected, check]] of Object.entries(CHECKS)) {
  /** @type {unknown} */
  let found;
  try {
    found = await check();
  } catch (error) {
    found = String(error instanceof Error ? (error.stack ?? error) : error);
  }
  const ok = JSON.stringify(found) === JSON.stringify(expected);
  say(ok ? { name, ok } : { name, ok, found, expected });
}
