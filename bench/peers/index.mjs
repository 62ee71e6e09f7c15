// One file for each peer, all with the same interface: the same bash, the same environment, the same stdin.
// `present()` chooses those whose package is installed.
import { optional } from './optional.mjs';

export { childProcess } from './child-process.mjs';
export { forkline } from './forkline.mjs';
export { present } from './optional.mjs';

export const execa = await optional(async () => (await import('./execa.mjs')).execa);
export const nanoSpawn = await optional(async () => (await import('./nano-spawn.mjs')).nanoSpawn);
export const tinyexec = await optional(async () => (await import('./tinyexec.mjs')).tinyexec);
