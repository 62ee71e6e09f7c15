// Commands of several steps that change a tree.
import { programStep } from './programs.mjs';
import { shellStep } from './steps.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('./trees.mjs').Tree} Tree */

/**
 * @param {Random} random
 * @param {Tree} tree What is there before.
 * @param {number} most The most steps.
 * @param {(random: Random, tree: Tree) => string} [other] Makes other steps, among these.
 */
export function commandFor(random, tree, most, other) {
  const steps = [];
  for (let left = 1 + random.below(most); left > 0; left -= 1) {
    steps.push(other && random.below(3) > 0 ? other(random, tree) : wrapped(random, tree));
  }
  return `exec 2>/dev/null\n${steps.join('\n')}\nwait\n`;
}

/**
 * @param {Random} random
 * @param {Tree} tree
 */
function wrapped(random, tree) {
  if (random.oneIn(4)) return programStep(random, tree);
  const step = shellStep(random, tree);
  switch (random.below(8)) {
    case 0:
      return `( ${step}\n) &`;
    case 1:
      return `bash <<'INNER'\n${step}\nINNER`;
    case 2:
      return `umask 0${random.pick(['77', '00', '27'])}; ${step}`;
    default:
      return step;
  }
}
