// Measures how long a launch by the named peer blocks the main thread, without and with memory held: two
// numbers, in milliseconds. In a process of its own, since V8 decides when held memory is released.
import { SHELLS } from './shells.mjs';

const HELD_BYTES = 2 ** 29;
// Each piece is smaller than a huge page, since memory in huge pages has little to copy at a fork, and
// whether a machine uses them depends on chance.
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
