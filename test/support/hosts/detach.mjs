// Starts a detached command for each line on stdin, `{ command, options }`, and says its id.
import { createInterface } from 'node:readline';
import { detach } from '../../../dist/index.js';

for await (const line of createInterface(process.stdin)) {
  const { command, options } = JSON.parse(line);
  try {
    const { id, record } = await detach(command, options);
    console.log(JSON.stringify({ id, pid: record.pid, outputFile: record.outputFile }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}
