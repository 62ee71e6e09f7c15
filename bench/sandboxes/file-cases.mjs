// The cases for a machine's files.

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
import { NOT_OFFERED, secondsSince } from './verdict.mjs';

/** @import { Case } from './verdict.mjs' */

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
export const FILE_CASES = {
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
      return { kept: seen === 0, note };
    },
  },
};

/** Creates a file beside the machine's directory. @param {string} directory */
function outside(directory) {
  const secret = join(directory, 'outside/secret');
  mkdirSync(join(directory, 'outside'));
  writeFileSync(secret, 'secret');
  return { secret, inside: insideOf(directory) };
}

/** Returns the machine's root: some create their own directory in the given one. @param {string} directory */
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
