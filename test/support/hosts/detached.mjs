// Does what lines on stdin say, and tells of each what came of it: `{ start, options }` starts a detached
// command, `{ run, options }` one that is not, and `{ id }` follows one until it stands as `until` says, after
// it was sent a `signal`, or stopped with a `grace`.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { attach, detach, listTasks, run } from '../../../dist/index.js';

for await (const line of createInterface(process.stdin)) {
  const answer = await does(JSON.parse(line)).catch((error) => {
    return { error: String(error), step: error.step };
  });
  console.log(JSON.stringify(answer));
}

/** @param {any} asked */
async function does(asked) {
  if (asked.run !== undefined) {
    /** @type {object} */
    const options = asked.options ?? {};
    const { output } = await run(asked.run, options);
    return { text: output.kind === 'complete' ? output.text : output.tail };
  }
  if (asked.start !== undefined) {
    const { id, record } = await detach(asked.start, asked.options);
    return { id, pid: record.pid };
  }
  const task = await attach(asked.id);
  const members = await task.members();
  const signalled = asked.signal && (await task.signal(asked.signal));
  if (asked.grace !== undefined) await task.stop({ graceMs: asked.grace });
  if (asked.write !== undefined) await task.write(asked.write);
  if (asked.until !== undefined) {
    while (!asked.until.includes(task.state)) await sleep(10);
  }
  const { text } = await task.read();
  const listed = (await listTasks()).some(({ id }) => id === asked.id);
  return { state: task.state, receipt: task.receipt, members, signalled, text, listed };
}
