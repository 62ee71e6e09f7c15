// Starts commands, says so, and ends in the way it is told: by process.exit(), by an exception, by
// coming to its last line, or (told nothing) when it is killed.
import { createInterface } from 'node:readline';
import { run, spawn } from '../../../dist/index.js';

const [, , ...commands] = process.argv;
for (const command of commands) {
  const live = await spawn(command);
  for await (const { text } of live) if (text.includes('ready')) break;
}
await run('(sleep 300 &) >/dev/null 2>&1; setsid sleep 300 &');
console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface(process.stdin)) {
  if (line === 'exit') process.exit(0);
  if (line === 'throw') throw new Error('as told');
  if (line === 'return') break;
}
process.stdin.destroy();
