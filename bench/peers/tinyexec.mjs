/** @import { Peer } from '../lib/types.d.ts' */
import { x } from 'tinyexec';

/** @type {Peer} */
export const tinyexec = {
  name: 'tinyexec',
  run: async (command) => {
    const { stdout } = await x('/bin/bash', ['-c', command], {
      nodeOptions: { stdio: ['ignore', 'pipe', 'pipe'] },
    });
    return stdout;
  },
};
