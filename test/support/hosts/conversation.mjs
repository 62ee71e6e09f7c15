// Makes a tool with the options that it is given, and says what it answers to each input, a line on stdin;
// or another tool that comes with it, of the name that is `to`.
import { createInterface } from 'node:readline';
import { createBashTool } from '../../../dist/index.js';

const tool = createBashTool(JSON.parse(process.argv[2] ?? '{}'));
for await (const line of createInterface(process.stdin)) {
  const { to, ...input } = JSON.parse(line);
  const other = tool.companions.find(({ name }) => name === to);
  const { content } = await (other ?? tool).execute(input);
  console.log(JSON.stringify({ text: content.map(({ text }) => text).join('') }));
}
await tool.dispose();
