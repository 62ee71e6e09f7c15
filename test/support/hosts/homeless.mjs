// Runs a command on each road, in the directory that it is given, and says what each one answered; then what a
// path with `~` brings.
import os from 'node:os';
import { createBashTool, detach, run, spawn, TaskManager } from '../../../dist/index.js';
import { connect } from '../../../dist/remote/index.js';

const [, , cwd = '', program = ''] = process.argv;
const isPortable = process.env.FORKLINE_ENGINE === 'portable';
/** @type {Record<string, unknown>} */
const answers = {};
/** @param {string} road @param {() => Promise<unknown>} ask */
async function ask(road, ask) {
  answers[road] = await ask().catch((/** @type {unknown} */ error) => String(error));
}
/** @param {any} result */
const textOf = (result) => result.output.text.trim();
/** @param {any} made @param {object} input */
async function toolSays(made, input) {
  const tool = made;
  try {
    const { content } = await tool.execute(input);
    return content
      .map((/** @type {{ text: string }} */ { text }) => text)
      .join('')
      .trim();
  } finally {
    await tool.dispose();
  }
}
const command = 'echo "ran $((6 * 7))"';

await ask('home', async () => os.homedir());
await ask('run', async () => textOf(await run(command, { cwd })));
await ask('spawn', async () => textOf(await (await spawn(command, { cwd })).result));
for (const contract of /** @type {const} */ (['workspace', 'session', 'modes', 'plain'])) {
  await ask(contract, () => toolSays(createBashTool({ contract, cwd }), { command }));
}
const terminal = { command, pty: true };
if (!isPortable) {
  await ask('terminal', () => toolSays(createBashTool({ contract: 'workspace', cwd }), terminal));
  await ask('persistent', () =>
    toolSays(createBashTool({ contract: 'session', cwd, persistent: true }), { command }),
  );
  await ask('detached', async () => {
    const task = await detach(command, { cwd });
    await task.wait();
    return (await task.read()).text.trim();
  });
  await ask('sandbox', async () => textOf(await run(command, { cwd, sandbox: 'workspace-write' })));
}
await ask('tasks', async () => {
  const tasks = new TaskManager();
  const task = await tasks.start(command, { cwd });
  await task.wait();
  const { text } = await task.read();
  await tasks.dispose();
  return text.trim();
});
await ask('far', async () => {
  const far = await connect({ command: [process.execPath, program, 'serve', '--stdio'] });
  const text = textOf(await far.run(command, { cwd }));
  await far.dispose();
  return text;
});

await ask('~ as cwd', () =>
  toolSays(createBashTool({ contract: 'workspace', cwd }), { command, cwd: '~/work' }),
);
await ask('cd ~', () =>
  toolSays(createBashTool({ contract: 'workspace', cwd }), { command: 'cd ~/etc && pwd' }),
);
await ask('~ in a policy', async () =>
  run(command, { cwd, sandbox: { filesystem: { allowWrite: ['~/cache'] } } }),
);
await ask('snapshot', async () => {
  /** @type {string[]} */
  const warned = [];
  const logger = { warn: (/** @type {string} */ message) => void warned.push(message) };
  const made = createBashTool({ contract: 'workspace', cwd, shellSnapshot: true, logger });
  return [await toolSays(made, { command }), ...warned];
});
console.log(JSON.stringify(answers));
