// Says which detached tasks there are, and what comes of attaching to the one that is named.
import { attach, listTasks } from '../../../dist/index.js';

const [id = ''] = process.argv.slice(2);
const tasks = await listTasks().catch((error) => String(error));
const attached = await attach(id).then(
  ({ subject }) => look(subject),
  (error) => ({ error: String(error) }),
);
console.log(JSON.stringify({ tasks, ...attached }));

/** @param {import('../../../dist/index.js').DetachedSubject} subject */
async function look(subject) {
  return { state: subject.state, members: await subject.members() };
}
