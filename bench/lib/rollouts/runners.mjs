// How each program runs a command, with both streams in one where it can do that.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Loaded late, since only one host runs commands with it. */
const loaded = async () => (await import('../../peers/forkline.mjs')).loadForkline();

/** @param {'low' | 'normal'} priority */
const forkline = (priority) => async (/** @type {string} */ command) => {
  const { run } = await loaded();
  const { output } = await run(command, { priority });
  return output.kind === 'complete' ? output.text : output.head + output.tail;
};

/** @param {string} command */
async function childProcess(command) {
  const child = spawn('/bin/bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
  }
  await once(child, 'close');
  return text;
}

/** @param {string} command */
async function execa(command) {
  const { execa: start } = await import('execa');
  const options = /** @type {const} */ ({ stdin: 'ignore', all: true, reject: false });
  return (await start('/bin/bash', ['-c', command], options)).all;
}

/**
 * Bun's own API, in Bun.
 * @param {string} command
 */
async function bun(command) {
  const child = Reflect.get(globalThis, 'Bun').spawn(['/bin/bash', '-c', command], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const texts = await Promise.all([child.stdout, child.stderr].map((stream) => text(stream)));
  await child.exited;
  return texts.join('');
}

/** @type {Record<string, (command: string) => Promise<string>>} */
export const runners = {
  forkline: forkline('normal'),
  'forkline, low': forkline('low'),
  child_process: childProcess,
  execa,
  Bun: bun,
  nothing: async () => '',
};
