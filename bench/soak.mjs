// A long life in minutes: `npm run soak -- [--count N] [--every N] [--tools N]`. Runs commands of every kind through
// one process, creates and disposes of tools, and prints what the process and its helpers hold after each stretch.
// It fails when anything but some memory has grown after the first one.
/** @import { Look } from './lib/soak/table.mjs' */
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { held } from './lib/soak/held.mjs';
import { many } from './lib/soak/many.mjs';
import { mix } from './lib/soak/mix.mjs';
import { byName, helpersOf } from './lib/soak/processes.mjs';
import { makeScene } from './lib/soak/scene.mjs';
import { grown, printLook } from './lib/soak/table.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200000' },
    every: { type: 'string', default: '20000' },
    tools: { type: 'string', default: '20000' },
  },
});
const [count, every, tools] = [Number(values.count), Number(values.every), Number(values.tools)];

const scene = makeScene();
const { kinds, makeTool, disposeKinds } = await import('./lib/soak/kinds/plain.mjs');
const { sandboxKinds } = await import('./lib/soak/kinds/sandbox.mjs');
const { taskKinds } = await import('./lib/soak/kinds/tasks.mjs');
const { shellKinds } = await import('./lib/soak/kinds/shells.mjs');
const { farKinds } = await import('./lib/soak/kinds/far.mjs');
const rooms = await Promise.all([sandboxKinds(scene), taskKinds(), shellKinds(scene), farKinds()]);
const { command, said } = mix(
  kinds,
  rooms.flatMap((room) => room.kinds),
);

/** @type {Look[]} */
const looks = [];

/** @param {string} when */
async function look(when) {
  await Promise.all(rooms.map((room) => room.rest?.()));
  /** @type {Look} */
  const taken = [when, await held(scene)];
  printLook(taken, looks.length === 0);
  looks.push(taken);
  return taken;
}

const start = performance.now();
await many(Math.min(2000, tools), makeTool);
let seconds = 0;
for (let done = 0; done < count; done += every) {
  const began = performance.now();
  await many(Math.min(every, count - done), (index) => command(done + index), 'commands');
  seconds += (performance.now() - began) / 1000;
  await look(String(Math.min(done + every, count)));
}
const afterFirst = looks[0];
const afterAll = looks.at(-1);
console.log(`\n${(count / seconds).toFixed(0)} commands a second: ${said().join(', ')}`);
console.log(`Helpers: ${byName(helpersOf(scene.folder)).join(', ')}`);
await many(tools, makeTool, 'tools');
const afterTools = await look('tools');
await Promise.all([disposeKinds(), ...rooms.map((room) => room.dispose())]);
const atEnd = await look('disposed');

const left = [
  ...(afterFirst && afterAll ? grown(afterFirst, afterAll) : []),
  ...(afterAll ? grown(afterAll, afterTools) : []),
  ...grown(afterTools, atEnd),
];
const verdict = left.join('; ') || 'Nothing is left.';
console.log(`\n${((performance.now() - start) / 60_000).toFixed(1)} minutes. ${verdict}`);
rmSync(scene.folder, { recursive: true, force: true });
process.exitCode = left.length === 0 ? 0 : 1;
