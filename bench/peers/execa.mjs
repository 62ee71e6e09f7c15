/** @import { Peer } from '../lib/types.d.ts' */
import { execa as start } from 'execa';

/** @type {Required<Peer>} */
export const execa = {
  name: 'execa',
  run: async (command) => (await start('/bin/bash', ['-c', command], { stdin: 'ignore' })).stdout,
  drain: async (command) => {
    // With its default buffering it would keep all output.
    const child = start('/bin/bash', ['-c', command], { stdin: 'ignore', buffer: false });
    child.stdout.on('data', () => {});
    child.stderr.resume();
    await child;
  },
  spill: (command, path) =>
    start('/bin/bash', ['-c', command], {
      stdin: 'ignore',
      buffer: false,
      stdout: { file: path },
    }),
};
