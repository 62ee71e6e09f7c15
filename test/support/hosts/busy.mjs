// Runs a command, and is busy for a second and a half from when it has said `asked`.
import { run } from '../../../dist/index.js';

const [command = '', options = '{}'] = process.argv.slice(2);
let wasBusy = false;
const result = await run(command, {
  ...JSON.parse(options),
  onOutput({ text }) {
    if (wasBusy || !text.includes('asked')) return;
    wasBusy = true;
    for (const until = performance.now() + 1500; performance.now() < until; );
  },
});
console.log(JSON.stringify({ result, wasBusy }));
