// Leaves something in the sandbox of a workspace, in argument 2, then runs a command in each of as many
// other workspaces as argument 3 says, all in the folder of argument 1; prints what two commands more find
// in the first one.

import { mkdirSync } from 'node:fs';
import { createBashTool, createOwner, detach, run, spawn } from '../../../dist/index.js';

const [, , folder = '', left = '', others = ''] = process.argv;
const owner = createOwner();
const options = { owner, sandbox: /** @type {const} */ ('workspace-write') };
const cwd = `${folder}/first`;
mkdirSync(cwd);

const session = createBashTool({
  contract: 'session',
  cwd,
  persistent: true,
  sandbox: 'workspace-write',
});
/** @param {string} command */
const ask = async (command) => {
  const { content } = await session.execute({ command });
  return { text: content.map(({ text }) => text).join('') };
};
/** @param {string} command */
const look = async (command) => {
  const { output, sandbox } = await run(command, { cwd, ...options });
  return { text: output.kind === 'complete' ? output.text : '', renewed: sandbox?.renewed };
};

const keep = 'echo kept >/tmp/kept';
const LOOKS = 'cat /tmp/kept 2>/dev/null; pgrep -cx sleep; true';
const until = 'until [ -e /tmp/kept ]; do sleep 0.02; done';
let end = async () => {};
switch (left) {
  case 'nothing':
    await run(keep, { cwd, ...options });
    break;
  case 'a process in the background':
    await run(`${keep}; sleep 60 &`, { cwd, ...options });
    break;
  case 'a daemon':
    await run(`${keep}; (setsid sleep 60 </dev/null >/dev/null 2>&1 &)`, { cwd, ...options });
    break;
  case 'a running command':
    await spawn(`${keep}; exec sleep 60`, { cwd, ...options });
    break;
  case 'a detached command': {
    const task = await detach(`${keep}; exec sleep 60`, { cwd, sandbox: options.sandbox });
    end = async () => void (await task.stop({ graceMs: 0 }));
    break;
  }
  case 'a shell':
    await ask(`${keep}; sleep 60 & cd /tmp`);
    break;
}
if (left !== 'a shell') await look(until);
for (let index = 0; index < Number(others); index += 1) {
  const other = `${folder}/${index}`;
  mkdirSync(other);
  await run('true', { cwd: other, ...options });
}
const answers = [];
for (let count = 0; count < 2; count += 1) {
  answers.push(await (left === 'a shell' ? ask(LOOKS) : look(LOOKS)));
}
await end();
await owner.dispose();
await session.dispose();
console.log(JSON.stringify(answers));
