// A client of the host's server: calls at fixed times, whatever the answers take, on several
// connections. Says how late answers were by that schedule, in milliseconds.
import { Agent, request } from 'node:http';

const [port = '', everyMs = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
/** @type {number[]} */
const late = [];
const start = performance.now();
let calls = 0;

/** @param {number} due */
function call(due) {
  const sent = request({ port, agent }, (answer) => {
    answer.resume().on('end', () => late.push(performance.now() - due));
  });
  sent.on('error', () => late.push(performance.now() - due));
  sent.end();
}

function tick() {
  for (; start + calls * Number(everyMs) <= performance.now(); calls++) {
    call(start + calls * Number(everyMs));
  }
  setTimeout(tick, 1);
}
tick();

process.stdin.resume().on('end', () => {
  process.stdout.write(JSON.stringify(late), () => process.exit());
});
