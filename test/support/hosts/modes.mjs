// Makes one `modes` tool, with the options that it is given, and calls it with each line on stdin.
import { createInterface } from 'node:readline';
import { createBashTool } from '../../../dist/index.js';

const [options = '{}'] = process.argv.slice(2);
const tool = createBashTool({ contract: 'modes', cwd: '/', ...JSON.parse(options) });

/** @param {string} input */
async function answer(input) {
  try {
    const { content } = await tool.execute(JSON.parse(input));
    console.log(JSON.stringify({ text: content.map(({ text }) => text).join('') }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}

for await (const line of createInterface(process.stdin)) {
  if (line === 'exit') process.exit(0);
  // Calls run side by side, as the contract allows.
  void answer(line);
}
