// How long a launch by the peer that is named holds up the main thread, without and with memory held:
// two numbers, in milliseconds. In a process of its own, since held memory is given back when V8 likes.
import { SHELLS } from './shells.mjs';

const HELD_BYTES = 2 ** 29;
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
const held = Buffer.allocUnsafeSlow(HELD_BYTES).fill(1);
const beside = await least();
process.stdout.write(`${without} ${held.length === HELD_BYTES ? beside : Number.NaN}\n`);
process.exit();
