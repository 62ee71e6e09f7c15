// The claims of the README's table about others, each with a command that shows it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { endedForOutput, SHELLS } from './shells.mjs';

/** @typedef {keyof typeof SHELLS} Peer */

/**
 * @typedef {object} Claim
 * @property {string} row the beginning of the table's row
 * @property {readonly Peer[]} peers
 * @property {string} says the text in their column
 * @property {(peer: Peer) => Promise<boolean>} holds
 */

/**
 * Returns whether a process is alive. A zombie is not, and some machines' init does not reap.
 * @param {number} pid
 */
function isAlive(pid) {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** @param {number} pid */
function end(pid) {
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
}

/**
 * Finds the process id in a command's output: a line of its own, since a shell may have printed a warning
 * before (about a missing locale), with other numbers in it.
 * @param {string} text
 */
function pidIn(text) {
  const [, pid] = /^(\d+)\r?\n/m.exec(text) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

/**
 * Returns whether a process that a command has named still runs after the command, or its host, has
 * ended.
 * @param {string} text
 */
async function outlives(text) {
  const pid = pidIn(text);
  if (pid === undefined) throw new Error(`no process id in ${JSON.stringify(text)}`);
  await sleep(300);
  const alive = isAlive(pid);
  end(pid);
  return alive;
}

/** @param {Peer} peer */
async function timesOut(peer) {
  const command = SHELLS[peer]('sleep 30 & echo $!; wait');
  while (pidIn(command.text()) === undefined) await sleep(20);
  command.kill();
  return outlives(command.text());
}

/** @param {Peer} peer */
async function leavesWhenKilled(peer) {
  const host = spawn(
    process.execPath,
    [fileURLToPath(new URL('host.mjs', import.meta.url)), peer],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [said] = await once(host.stdout, 'data');
  host.kill('SIGKILL');
  await once(host, 'exit');
  return outlives(String(said));
}

/** @param {Peer} peer */
async function readsStartUpFile(peer) {
  const directory = mkdtempSync(join(tmpdir(), 'claims-'));
  try {
    const file = join(directory, 'start-up');
    writeFileSync(file, 'echo() { builtin echo replaced; }\n');
    const { text } = await SHELLS[peer]('echo hi', { ...process.env, BASH_ENV: file }).ended;
    return text.trim() === 'replaced';
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** @param {Peer} peer */
async function refusesLong(peer) {
  const text = `: ${'x'.repeat(2 ** 21)}`;
  try {
    const { text: said, code } = await SHELLS[peer](text).ended;
    return code !== 0 || said.includes('too long');
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'E2BIG';
  }
}

const ALTERNATING = 'for i in {1..300}; do echo $i; echo $i >&2; done';

/** @param {Peer} peer */
async function keepsOrder(peer) {
  const { text } = await SHELLS[peer](ALTERNATING).ended;
  const expected = Array.from({ length: 600 }, (_, index) => `${Math.floor(index / 2) + 1}`);
  return text.split(/\r?\n/).slice(0, 600).join() === expected.join();
}

/** @type {readonly Peer[]} */
const ON_PIPES = ['child_process', 'execa'];
/** @type {readonly Peer[]} */
const ON_TERMINALS = ['node-pty'];
/** @type {readonly Peer[]} */
const ALL = [...ON_PIPES, ...ON_TERMINALS];

/**
 * Returns whether a launch blocks the main thread for longer if the process holds more memory.
 * @param {Peer} peer
 */
async function blocks(peer) {
  const script = fileURLToPath(new URL('launch.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, peer]);
  const [without = Number.NaN, beside = Number.NaN] = stdout.split(' ').map(Number);
  return beside > 2 * without;
}

/** @type {readonly Claim[]} */
export const CLAIMS = [
  {
    row: 'launch from a 4 GiB process',
    peers: ON_PIPES,
    says: 'blocks the main thread meanwhile',
    holds: blocks,
  },
  {
    row: 'launch from a 4 GiB process',
    peers: ON_TERMINALS,
    says: 'as `child_process`',
    holds: blocks,
  },
  {
    row: '`sleep 300 & echo done`',
    peers: ON_PIPES,
    says: 'hangs until `sleep` ends',
    holds: async (peer) => (await SHELLS[peer]('sleep 2 & echo done').ended).ms > 1900,
  },
  {
    row: '`sleep 300 & echo done`',
    peers: ON_TERMINALS,
    says: 'ends it by hang-up',
    holds: async (peer) => !(await outlives((await SHELLS[peer]('sleep 30 & echo $!').ended).text)),
  },
  { row: 'timeout or cancel', peers: ON_PIPES, says: 'one process', holds: timesOut },
  {
    row: 'timeout or cancel',
    peers: ['execa'],
    says: 'execa: SIGKILL after 5 s',
    holds: async (peer) => {
      const command = SHELLS[peer]("trap '' TERM; echo $$; while :; do sleep 0.1; done");
      while (pidIn(command.text()) === undefined) await sleep(20);
      command.kill();
      const { ms } = await command.ended;
      return ms > 4900 && !(await outlives(command.text()));
    },
  },
  {
    row: 'timeout or cancel',
    peers: ON_TERMINALS,
    says: 'one signal',
    holds: async (peer) => {
      const command = SHELLS[peer]("trap '' HUP; echo $$; while :; do sleep 0.1; done");
      while (pidIn(command.text()) === undefined) await sleep(20);
      command.kill();
      return outlives(command.text());
    },
  },
  {
    row: 'daemons',
    peers: ALL,
    says: 'left',
    holds: async (peer) => {
      const daemon = 'setsid sleep 30 </dev/null >/dev/null 2>&1 & echo $!; sleep 0.3';
      return outlives((await SHELLS[peer](daemon).ended).text);
    },
  },
  { row: 'your process is killed', peers: ON_PIPES, says: 'orphans', holds: leavesWhenKilled },
  {
    row: 'your process is killed',
    peers: ON_TERMINALS,
    says: 'terminal hangs up',
    holds: async (peer) => !(await leavesWhenKilled(peer)),
  },
  {
    row: '100 GB of output',
    peers: ['child_process'],
    says: '`exec` ends it at 1 MiB',
    holds: async () =>
      (await endedForOutput(2 ** 20 + 1)).exec === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER',
  },
  {
    row: '100 GB of output',
    peers: ['execa'],
    says: 'execa at 100 MB',
    holds: async () => (await endedForOutput(100_000_001)).execa,
  },
  {
    row: 'stdout and stderr in true order',
    peers: ON_PIPES,
    says: 'no: two pipes',
    holds: async (peer) => !(await keepsOrder(peer)),
  },
  {
    row: 'stdout and stderr in true order',
    peers: ON_TERMINALS,
    says: 'yes, but a terminal',
    holds: keepsOrder,
  },
  {
    row: '`pkill -f` in a command',
    peers: ALL,
    says: 'hits it',
    holds: async (peer) => {
      const name = `claim-${process.pid}-${peer}`;
      const { text } = await SHELLS[peer](`pkill -f ${name}; echo alive`).ended;
      return !text.includes('alive');
    },
  },
  { row: 'a 2 MB command', peers: ALL, says: '`E2BIG`', holds: refusesLong },
  { row: '[start-up files]', peers: ALL, says: 'as the shell does', holds: readsStartUpFile },
  {
    row: "secrets in the host's environment",
    peers: ALL,
    says: 'inherited',
    holds: async (peer) => {
      const env = { ...process.env, CLAIM_TOKEN: 'told' };
      return (await SHELLS[peer]('echo $CLAIM_TOKEN', env).ended).text.trim() === 'told';
    },
  },
  {
    row: 'a command that [asks for a password]',
    peers: ON_PIPES,
    says: 'no terminal',
    holds: async (peer) =>
      (await SHELLS[peer]('{ : >/dev/tty; } 2>/dev/null || echo none').ended).text === 'none\n',
  },
  {
    row: 'a command that [asks for a password]',
    peers: ON_TERMINALS,
    says: 'raw escape sequences',
    holds: async (peer) => {
      const { text } = await SHELLS[peer]("printf 'a\\e[31mb\\e[0m'; : >/dev/tty").ended;
      return text === 'a\x1b[31mb\x1b[0m';
    },
  },
  {
    row: '[whose exit code]',
    peers: ALL,
    says: '0',
    holds: async (peer) => (await SHELLS[peer]('false | tail').ended).code === 0,
  },
];
