// Runs commands whose changes can be taken back, and takes them back, as lines on stdin say.
import { revertChanges, run } from '../../../../dist/index.js';
import { answerLines } from './answering.mjs';

/** @type {Map<string, NonNullable<Awaited<ReturnType<typeof run>>['changes']>>} */
const known = new Map();

/** @param {{ command?: string, options?: object, revert?: string }} request */
async function answer({ command, options, revert }) {
  if (command === undefined) {
    const id = revert ?? '';
    const changes = known.get(id);
    known.clear();
    return changes ? changes.revert() : revertChanges(id);
  }
  const { changes, outcome } = await run(command, options);
  if (changes?.id !== undefined) known.set(changes.id, changes);
  return { changes, outcome };
}

await answerLines(answer);
