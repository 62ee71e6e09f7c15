// Runs commands whose changes are held, looks at what they see, and accepts them, as lines on stdin say.
import { fileURLToPath } from 'node:url';
import { acceptChanges, run } from '../../../../dist/index.js';
import { answerLines } from '../../undo/fuzz/answering.mjs';

const TREE = fileURLToPath(new URL('../../undo/fuzz/tree.py', import.meta.url));
const MOST = 8 << 20;

/** Runs a command, and tells what is then seen of a tree. @param {any} request */
async function hold({ command, options, look }) {
  const { changes, outcome } = await run(command, options);
  const input = `${JSON.stringify({ look })}\n`;
  const program = ['/usr/bin/python3', TREE];
  const more = { cwd: look, timeoutMs: 20_000, input, tailBytes: MOST, headBytes: 0 };
  const seen = await run(program, { ...options, ...more });
  const text = 'output' in seen && seen.output ? textOf(seen.output) : undefined;
  // A tree that has grown too large.
  if (text === undefined) return { changes, outcome, unseen: JSON.stringify(seen.outcome) };
  const { answer, error } = JSON.parse(text);
  return { changes, outcome, seen: answer, unseen: error };
}

/** @param {unknown} output What is whole; else nothing. */
function textOf(output) {
  const { text } = /** @type {{ text?: string }} */ (output);
  return text;
}

/** @param {any} request */
function answer({ accept, paths, ...request }) {
  return accept === undefined ? hold(request) : acceptChanges(accept, paths);
}

await answerLines(answer);
