// How long a launch by the peer that is named holds up the main thread, without and with memory held:
// two numbers, in milliseconds. In a process of its own, since held memory is given back when V8 likes.
import { SHELLS } from './shells.mjs';

const HELD_BYTES = 2 ** 29;
// Each less than a huge page, since of memory in huge pages there is little to copy at a fork, and
// which machine gives those is chance.
const PIECE_BYTES = 2 ** 20;
const name = /** @type {keyof typeof SHELLS} */ (process.argv[2]);

async function launch() {
  const start = performance.now();
  const { ended } = SHELLS[name]('true');
  const ms = performance.now() - start;
  await ended;
  return ms;
}

const least = async () => Math.min(await launch(), await launch(), await launch());
const without = await least();
const held = Array.from({ length: HELD_BYTES / PIECE_BYTES }, () =>
  Buffer.allocUnsafeSlow(PIECE_BYTES).fill(1),
);
const beside = await least();
process.stdout.write(`${without} ${held.every((piece) => piece[0] === 1) ? beside : Number.NaN}\n`);
process.exit();
