// Hosts of their own, which may be killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** @typedef {ReturnType<typeof startHost>} Host */

const OWN = fileURLToPath(new URL('host.mjs', import.meta.url));
const PATIENCE_MS = 20_000;

/**
 * @param {string} state The directory of its state.
 * @param {number} [user] Who it is; default: whoever runs this.
 * @param {string} [script] What it runs.
 */
export function startHost(state, user, script = OWN) {
  const own = user === undefined ? {} : { uid: user, gid: user };
  const env = { ...process.env, XDG_STATE_HOME: state, HOME: state };
  const child = spawn(process.execPath, [script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
    ...own,
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  child.stdin.on('error', () => {});
  return {
    pid: child.pid ?? 0,
    /**
     * What it answers; undefined: it was killed.
     *
     * @param {object} request
     * @returns {Promise<{ answer?: any, error?: string } | undefined>}
     */
    async ask(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      return done ? undefined : JSON.parse(value);
    },
    /** Ends it, and waits for all that it has started. */
    async end() {
      const started = descendants(child.pid ?? 0);
      child.stdin.end();
      await ended;
      await allGone(started);
    },
    kill: () => child.kill('SIGKILL'),
  };
}

/** @param {readonly number[]} pids */
export async function allGone(pids) {
  const until = Date.now() + PATIENCE_MS;
  while (pids.some(lives)) {
    if (Date.now() > until) throw new Error(`processes stay: ${pids.filter(lives)}`);
    await sleep(5);
  }
}

/** All that a process has started. @param {number} pid @returns {number[]} */
export function descendants(pid) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? entryOf(Number(name))?.parent : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [];
  for (const waiting = [pid]; waiting.length > 0; ) {
    const below = children.get(waiting.pop() ?? 0) ?? [];
    found.push(...below);
    waiting.push(...below);
  }
  return found;
}

/**
 * The processes of a host that keep its commands, or that stand beside a sandbox of them.
 *
 * @param {number} host
 * @param {'keeper' | 'warden'} what
 */
export function keepersOf(host, what) {
  const word = what === 'keeper' ? 'keep' : 'sandbox';
  return descendants(host).filter((pid) => {
    const [program, first] = read(pid, 'cmdline').split('\0');
    return program === 'forkline-keeper' && first === word;
  });
}

/** @param {number} pid */
function lives(pid) {
  return !['Z', 'X', undefined].includes(entryOf(pid)?.state);
}

/** @param {number} pid */
function entryOf(pid) {
  const [, state, parent] = /\) (\w) (\d+)/s.exec(read(pid, 'stat')) ?? [];
  return state === undefined ? undefined : { state, parent: Number(parent) };
}

/** @param {number} pid @param {string} file */
function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
