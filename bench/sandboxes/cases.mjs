// What is asked of a local machine, each in a process of its own: see case.mjs.

import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { running, sleeper } from './sleepers.mjs';

/** @import { Machine } from './machines.mjs' */
/**
 * How it went. `kept` undefined: the protocol does not offer it.
 * @typedef {{ kept: boolean | undefined, note: string }} Verdict
 * @typedef {{ title: string, run(machine: Machine, directory: string): Promise<Verdict> }} Case
 */

const NOT_OFFERED = { kept: undefined, note: 'not offered' };

/** What a time is told as: `0.3 s`. @param {number} since */
const secondsSince = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Waits until so many of our processes run. @param {number} count */
async function until(count) {
  for (let tries = 0; tries < 50 && running().length !== count; tries += 1) await sleep(100);
  return running().length;
}

/** Starts a command and stops it by what the protocol has for that. @param {Machine} machine @param {string} command */
async function stopped(machine, command, processes = 1) {
  if (machine.hasSignal) {
    const abort = new AbortController();
    const run = machine.run(command, abort.signal).catch(() => {});
    await until(processes);
    const start = performance.now();
    abort.abort();
    await Promise.race([run, sleep(15_000)]);
    return `abort, ${secondsSince(start)}`;
  }
  if (machine.start) {
    const started = await machine.start(command);
    await until(processes);
    const start = performance.now();
    await Promise.race([started.stop(), sleep(15_000)]);
    return `stop, ${secondsSince(start)}`;
  }
  const start = performance.now();
  await Promise.race([machine.run(command).catch(() => {}), sleep(20_000)]);
  return `time, ${secondsSince(start)}`;
}

/** @param {string} how */
async function nothingLeft(how) {
  const left = await until(0);
  return { kept: left === 0, note: left === 0 ? how : `${how}; ${left} still run` };
}

const NAMES = [
  'a b',
  "quo'te",
  'new\nline',
  '-rf',
  '$(x)',
  '*',
  'ü𝕏',
  '.hidden',
  '~',
  'back\\slash',
];

/** @type {Record<string, Case>} */
export const CASES = {
  tree: {
    title: 'A command that is stopped leaves no process, in whatever session',
    async run(machine) {
      const command = `sh -c '${sleeper()} & ${sleeper()}' & setsid ${sleeper()} & wait`;
      return nothingLeft(await stopped(machine, command, 3));
    },
  },
  stubborn: {
    title: 'One that ignores SIGTERM is gone as well',
    async run(machine) {
      return nothingLeft(await stopped(machine, `trap '' TERM; ${sleeper()}; ${sleeper()}`));
    },
  },
  pipe: {
    title: 'A process in the background that holds the output delays no answer',
    async run(machine) {
      const start = performance.now();
      const run = machine.run(`${sleeper()} & echo done`).then(({ text }) => text);
      const text = await Promise.race([run, sleep(10_000)]);
      return { kept: text === 'done\n', note: text ? secondsSince(start) : 'over 10 s' };
    },
  },
  leftover: {
    title: 'What a command left running ends with the session',
    async run(machine) {
      await Promise.race([machine.run(`${sleeper()} >/dev/null 2>&1 & true`), sleep(5_000)]);
      await machine.close();
      return nothingLeft('closed');
    },
  },
  gigabyte: {
    title: '1 GB of output: less than 200 MB of memory',
    async run(machine) {
      const before = process.resourceUsage().maxRSS;
      const start = performance.now();
      const command = "head -c 1000000000 /dev/zero | tr '\\0' x";
      const error = await machine.run(command).then(() => undefined, String);
      const megabytes = Math.round((process.resourceUsage().maxRSS - before) / 1024);
      const note = `${megabytes} MB, ${secondsSince(start)}${error ? `, ${error.slice(0, 60)}` : ''}`;
      return { kept: megabytes < 200 && error === undefined, note };
    },
  },
  abort: {
    title: 'A signal of the caller ends a command at once',
    async run(machine) {
      if (!machine.hasSignal) return NOT_OFFERED;
      const abort = new AbortController();
      const run = machine.run(sleeper(), abort.signal).catch(() => 'thrown');
      await until(1);
      const start = performance.now();
      abort.abort();
      const settled = await Promise.race([run, sleep(10_000)]);
      return { kept: settled !== undefined, note: secondsSince(start) };
    },
  },
  time: {
    title: 'When its time is up, a command ends and the answer says so',
    async run(machine) {
      if (!machine.hasTime) return NOT_OFFERED;
      const start = performance.now();
      const end = machine.run(`${sleeper()} & ${sleeper()}`).catch((error) => {
        return { code: 124, text: String(error) };
      });
      const result = await Promise.race([end, sleep(20_000)]);
      const told = result !== undefined && (result.code === 124 || /time/i.test(result.text));
      const verdict = await nothingLeft(secondsSince(start));
      return { ...verdict, kept: verdict.kept && told };
    },
  },
  background: {
    title: 'A command in the background tells its output while it runs, and is stopped',
    async run(machine) {
      if (!machine.start) return NOT_OFFERED;
      const started = await machine.start(`echo ready; ${sleeper()}`);
      await until(1);
      await sleep(300);
      const text = await started.output();
      await started.stop();
      const verdict = await nothingLeft('');
      return { kept: verdict.kept && text.includes('ready'), note: verdict.note };
    },
  },
  command: {
    title: 'A command of 300 KB',
    async run(machine) {
      const command = `wc -c <<'E'\n${'x'.repeat(300_000)}\nE`;
      const text = await machine.run(command).then((end) => end.text, String);
      const kept = text.trim() === '300001';
      return { kept, note: kept ? '' : text.slice(0, 60).trim() };
    },
  },
  character: {
    title: 'A character that comes in two pieces is one',
    async run(machine) {
      const { text } = await machine.run("printf '\\342'; sleep 0.3; printf '\\202\\254'");
      return { kept: text === '€', note: text === '€' ? '' : JSON.stringify(text) };
    },
  },
  terminal: {
    title: 'A terminal',
    async run(machine) {
      if (!machine.terminal) return NOT_OFFERED;
      const text = await machine.terminal('tty; ps -o comm= -p $PPID');
      const note = /python/.test(text) ? 'by python3' : '';
      return { kept: text.includes('/dev/pts/'), note };
    },
  },
  file: {
    title: 'A file of 50 MB is written and read',
    async run(machine) {
      const { write, read } = machine;
      if (!write || !read) return NOT_OFFERED;
      const bytes = Buffer.alloc(50_000_000, 'content ');
      const start = performance.now();
      await write('big.bin', bytes);
      const kept = bytes.equals(await read('big.bin'));
      return { kept, note: secondsSince(start) };
    },
  },
  names: {
    title: 'Odd names: spaces, quotes, newlines, `-rf`, `$(x)`, …',
    async run(machine) {
      const { write, read, list } = machine;
      if (!write || !read || !list) return NOT_OFFERED;
      /** @type {string[]} */
      const failed = [];
      for (const name of NAMES) {
        const bytes = Buffer.from(name);
        const came = await write(`names/${name}`, bytes)
          .then(() => read(`names/${name}`))
          .catch(() => undefined);
        if (came === undefined || !bytes.equals(came)) failed.push(name);
      }
      const listed = await list('names').catch(() => /** @type {string[]} */ ([]));
      const lost = NAMES.filter((name) => !listed.includes(name) && !failed.includes(name));
      const note = [...failed, ...lost.map((name) => `${name} (not listed)`)];
      return { kept: note.length === 0, note: note.map((name) => JSON.stringify(name)).join(' ') };
    },
  },
  symlink: {
    title: 'A symlink leads to no file outside',
    async run(machine, directory) {
      const { write, read } = machine;
      if (!write) return NOT_OFFERED;
      const { inside, secret } = outside(directory);
      symlinkSync(join(directory, 'outside'), join(inside, 'link'));
      const text = await (read?.('link/secret') ?? Promise.reject()).then(String, () => '');
      await write('link/secret', Buffer.from('written')).catch(() => {});
      const now = readFileSync(secret, 'utf8');
      return escapes([text === 'secret' && 'read', now !== 'secret' && 'written']);
    },
  },
  dots: {
    title: '`..` and absolute paths lead to no file outside',
    async run(machine, directory) {
      const { write, read } = machine;
      if (!write) return NOT_OFFERED;
      const { secret } = outside(directory);
      const ways = ['../outside/secret', '../../outside/secret', secret];
      /** @type {(string | false)[]} */
      const escaped = [];
      for (const way of ways) {
        const text = await (read?.(way) ?? Promise.reject()).then(String, () => '');
        await write(way, Buffer.from('written')).catch(() => {});
        escaped.push(
          text === 'secret' && 'read',
          readFileSync(secret, 'utf8') !== 'secret' && 'written',
        );
        writeFileSync(secret, 'secret');
      }
      return escapes(escaped);
    },
  },
  swap: {
    title: 'A directory that becomes a symlink meanwhile leads to no file outside (2,000 reads)',
    async run(machine, directory) {
      const { read } = machine;
      if (!read) return NOT_OFFERED;
      const { inside } = outside(directory);
      const [d, e] = [join(inside, 'd'), join(inside, 'e')];
      mkdirSync(d);
      writeFileSync(join(d, 'secret'), 'mine');
      let [seen, came, reads, over] = [0, 0, 0, false];
      const swapping = (async () => {
        while (!over) {
          renameSync(d, e);
          symlinkSync(join(directory, 'outside'), d);
          await sleep(1);
          rmSync(d);
          renameSync(e, d);
          await sleep(1);
        }
      })();
      const start = performance.now();
      for (; reads < 2000 && performance.now() - start < 40_000; reads += 1) {
        const text = await read('d/secret').then(String, () => '');
        if (text === 'secret') seen += 1;
        if (text === 'mine') came += 1;
      }
      over = true;
      await swapping;
      const note = `${seen} of ${reads} got out, ${came} were the right file, ${secondsSince(start)}`;
      return { kept: seen === 0 && came > 0, note };
    },
  },
  call: {
    title: '`true`, middle of 50 calls',
    async run(machine) {
      const times = [];
      for (let call = 0; call < 50; call += 1) {
        const start = performance.now();
        await machine.run('true');
        times.push(performance.now() - start);
      }
      times.sort((one, other) => one - other);
      return { kept: true, note: `${times[25]?.toFixed(1)} ms` };
    },
  },
};

/** A file beside the machine's directory. @param {string} directory */
function outside(directory) {
  const secret = join(directory, 'outside/secret');
  mkdirSync(join(directory, 'outside'));
  writeFileSync(secret, 'secret');
  return { secret, inside: insideOf(directory) };
}

/** Some make a directory of their own in the one that they are given. @param {string} directory */
function insideOf(directory) {
  const own = join(directory, 'root');
  const made = readdirSync(own).find((name) => name.startsWith('openai-agents-sandbox-'));
  return made === undefined ? own : join(own, made);
}

/** @param {readonly (string | false)[]} found */
function escapes(found) {
  const ways = [...new Set(found.filter((way) => way !== false))];
  return { kept: ways.length === 0, note: ways.join(', ') };
}
