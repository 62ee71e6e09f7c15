/** @import { Peer } from '../lib/types.d.ts' */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** @param {string} command */
const start = (command) =>
  spawn('/bin/bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });

/** @type {Required<Peer>} */
export const childProcess = {
  name: 'child_process',
  run: async (command) => {
    const child = start(command);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    await once(child, 'close');
    return text;
  },
  drain: async (command) => {
    const child = start(command);
    child.stdout.on('data', () => {});
    child.stderr.resume();
    await once(child, 'close');
  },
  spill: async (command, path) => {
    const child = start(command);
    child.stderr.resume();
    await Promise.all([pipeline(child.stdout, createWriteStream(path)), once(child, 'close')]);
  },
};
