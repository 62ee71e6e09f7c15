// Makes a tool with the options that it is given, a line, has it run what follows, and says what it
// answered.
import { createBashTool } from '../../../dist/index.js';

const [, , options = '{}', ...inputs] = process.argv;
const answers = [];
try {
  const tool = createBashTool(JSON.parse(options));
  for (const input of inputs) {
    try {
      const { content, isError } = await tool.execute(JSON.parse(input));
      answers.push({ text: content.map(({ text }) => text).join(''), isError });
    } catch (error) {
      answers.push({ text: String(error), isError: true });
    }
  }
  await tool.dispose();
} catch (error) {
  answers.push({ text: String(error), isError: true });
}
console.log(JSON.stringify(answers));
