// One file for each peer, all with the same interface: the same bash, the same environment, the same stdin.
export { childProcess } from './child-process.mjs';
export { execa } from './execa.mjs';
export { forkline } from './forkline.mjs';
export { nanoSpawn } from './nano-spawn.mjs';
export { tinyexec } from './tinyexec.mjs';
