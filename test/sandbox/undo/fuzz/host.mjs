// Runs commands whose changes can be taken back, and takes them back, as lines on stdin say.
import { createInterface } from 'node:readline';
import { revertChanges, run } from '../../../../dist/index.js';

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

for await (const line of createInterface(process.stdin)) {
  try {
    console.log(JSON.stringify({ answer: await answer(JSON.parse(line)) }));
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    console.log(JSON.stringify({ error: message }));
  }
}
