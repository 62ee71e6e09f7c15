/** @import { Peer } from '../lib/types.d.ts' */
import start from 'nano-spawn';

/** @type {Peer} */
export const nanoSpawn = {
  name: 'nano-spawn',
  run: async (command) => (await start('/bin/bash', ['-c', command], { stdin: 'ignore' })).stdout,
};
