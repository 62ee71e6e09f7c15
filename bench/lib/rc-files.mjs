// rc files of any size, with functions like those of real ones: nvm.sh has 118 of 1.6 KB on average.
import { readFileSync } from 'node:fs';

const STEPS = readFileSync(new URL('rc-function.sh', import.meta.url), 'utf8')
  .split(/^#.*\n/m)
  .filter((step) => step !== '');

/** @param {number} index */
function definition(index) {
  // From 0.3 to 4 KB, in an order that repeats.
  const length = 2 + ((index * 7) % 19);
  const steps = Array.from({ length }, (_, step) => STEPS[(index + step) % STEPS.length]);
  const next = `tool_step_${index + 1}`;
  return `tool_step_${index}() {\n${steps.join('')}  [ "$#" -lt 9 ] || ${next} "$@"\n}\n`;
}

/**
 * Makes the text of an rc file of functions only.
 * @param {number} bytes at least
 */
export function functionsOf(bytes) {
  let text = 'tool_greet() { echo hi; }\n';
  for (let index = 0; text.length < bytes; index++) text += definition(index);
  return text;
}
