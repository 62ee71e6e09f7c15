// Runs a command with an `onDenied` that answers in a way that has a name, by run() or by a tool, and
// reports what it was asked and what came of it.
import { createBashTool, run } from '../../../dist/index.js';

/** @import { DeniedCommand, OnDenied } from '../../../dist/index.js' */

const { way, allow, contract, command, options } = JSON.parse(process.argv[2] ?? '{}');
const controller = new AbortController();
/** @type {DeniedCommand[]} */
const asked = [];

/** @type {Record<string, OnDenied>} */
const ways = {
  allow: ({ sandbox }) => ({ ...sandbox, filesystem: { allowWrite: [allow] } }),
  same: ({ sandbox }) => ({ ...sandbox }),
  nothing: async () => undefined,
  abort: () => {
    controller.abort();
    return new Promise(() => {});
  },
  throw: () => {
    throw new Error('nobody is there');
  },
  wrong: () => /** @type {never} */ ({ mode: 'all' }),
};

/** @type {OnDenied} */
function onDenied(denied) {
  asked.push({ ...denied, signal: undefined });
  return ways[way]?.(denied);
}

async function answer() {
  if (contract === undefined) {
    return { result: await run(command, { ...options, onDenied, signal: controller.signal }) };
  }
  const tool = createBashTool({ contract, ...options, onDenied });
  const { text } = await tool.answer({ command });
  await tool.dispose();
  return { text };
}

try {
  console.log(JSON.stringify({ asked, ...(await answer()) }));
} catch (error) {
  console.log(JSON.stringify({ asked, error: /** @type {Error} */ (error).message }));
}
