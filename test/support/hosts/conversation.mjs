// Makes a tool with the options that it is given, and says what it answers to each input, a line on stdin.
import { createInterface } from 'node:readline';
import { createBashTool } from '../../../dist/index.js';

const tool = createBashTool(JSON.parse(process.argv[2] ?? '{}'));
for await (const line of createInterface(process.stdin)) {
  const { content } = await tool.execute(JSON.parse(line));
  console.log(JSON.stringify({ text: content.map(({ text }) => text).join('') }));
}
await tool.dispose();
