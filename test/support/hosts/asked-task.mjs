// Starts a detached command of which it is asked, says so, and never answers. Its argument: a writable folder.
import { detach } from '../../../dist/index.js';

const exec = { rules: [{ program: 'env', argv: ['asked'], answer: /** @type {const} */ ('ask') }] };
const task = await detach('env echo asked; echo after', {
  cwd: process.argv[2],
  sandbox: { mode: 'workspace-write', exec },
  onExec: ({ argv }) => {
    console.log(JSON.stringify({ argv }));
    return new Promise(() => {});
  },
});
console.log(JSON.stringify({ id: task.id }));
setInterval(() => {}, 60_000);
