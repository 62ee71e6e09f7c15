// Has a shell that lasts start something, says so, and has nothing more to do; told `stay`, it stays.
import { createBashTool } from '../../../dist/index.js';

const [, , command, stay] = process.argv;
const tool = createBashTool({ contract: 'session', cwd: '/', persistent: true });
const { structured } = await tool.execute({ command });
console.log(JSON.stringify(structured));
if (stay === 'stay') process.stdin.resume();
