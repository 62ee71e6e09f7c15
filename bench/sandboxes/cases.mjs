// The cases for a local machine, each in a process of its own: see case.mjs.

import { setTimeout as sleep } from 'node:timers/promises';
import { FILE_CASES } from './file-cases.mjs';
import { running, sleeper } from './sleepers.mjs';
import { NOT_OFFERED, secondsSince } from './verdict.mjs';

/** @import { Machine } from './machines.mjs' */
/** @import { Case } from './verdict.mjs' */

/** Waits until `count` of our processes run. @param {number} count */
async function until(count) {
  for (let tries = 0; tries < 50 && running().length !== count; tries += 1) await sleep(100);
  return running().length;
}

/**
 * Starts a command and stops it by the protocol's own means. @param {Machine} machine @param {string}
 * command
 */
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
  ...FILE_CASES,
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
