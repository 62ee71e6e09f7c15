/** @import { Peer } from '../lib/types.d.ts' */
import { existsSync } from 'node:fs';

const FACE = new URL('../../dist/index.js', import.meta.url);

/**
 * Loads the package as a user gets it, from `npm run build`.
 * @returns {Promise<typeof import('../../src/index.js')>}
 */
export async function loadForkline() {
  if (!existsSync(FACE)) throw new Error('forkline is not built: run `npm run build`');
  return import(FACE.href);
}

const { run } = await loadForkline();

/** @type {Required<Peer>} */
export const forkline = {
  name: 'forkline',
  run: async (command) => {
    const { output } = await run(command);
    return output.kind === 'complete' ? output.text : output.tail;
  },
  drain: (command) => run(command),
  spill: (command, path) => run(command, { spill: path }),
};
