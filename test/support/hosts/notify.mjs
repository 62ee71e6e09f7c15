// Tells the watches of the detached tasks of a runtime, whose name is the first argument, a line for each event.
// Of each line on stdin, `{ command, options }`, it detaches the command, and says its id.
import { createInterface } from 'node:readline';
import { detach, TaskManager } from '../../../dist/index.js';

const [, , name] = process.argv;
const say = (/** @type {object} */ what) => console.log(JSON.stringify(what));

const manager = new TaskManager({
  name,
  onEvent: ({ task, news }) => {
    for (const one of news) say({ told: { id: task.id, state: task.state, ...one } });
  },
});
say({ watched: await manager.resume() });
for await (const line of createInterface(process.stdin)) {
  const { command, options } = JSON.parse(line);
  const { id } = await detach(command, options);
  say({ id });
}
