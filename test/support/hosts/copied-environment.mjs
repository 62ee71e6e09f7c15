// The first process of a container, with detached children that have a command's environment.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { run } from '../../../dist/index.js';

const { output } = await run('env -0');
const text = output.kind === 'complete' ? output.text : '';
const env = Object.fromEntries(
  text.split('\u2400').map((entry) => entry.split(/=(.*)/s).slice(0, 2)),
);
const children = Array.from({ length: 10 }, () =>
  spawn('sh', ['-c', 'sleep 0.3; exit 9'], { env, detached: true, stdio: 'ignore' }),
);
const exits = children.map((child) => once(child, 'exit'));
await Promise.all(Array.from({ length: 20 }, () => run('(sleep 0.01 &)')));
console.log(JSON.stringify({ codes: (await Promise.all(exits)).map(([code]) => code) }));
