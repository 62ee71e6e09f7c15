// Kinds of commands: each checks its own answer.
import { strict as assert } from 'node:assert';
import { loadForkline } from '../../../peers/forkline.mjs';

const { CONTRACT_NAMES, createBashTool, createOwner, run, spawn } = await loadForkline();

const cwd = '/';
const [workspace, modes, session, plain] = [
  createBashTool({ contract: 'workspace', cwd, async: true, minimizer: true }),
  createBashTool({ contract: 'modes', cwd }),
  createBashTool({ contract: 'session', cwd }),
  createBashTool({ contract: 'plain', cwd }),
];

/** @param {string} command */
async function inSession(command) {
  const { content } = await session.execute({ command });
  return content[0]?.text ?? '';
}

/** @param {Promise<unknown>} refused */
const rejects = (refused) => assert.rejects(refused);

/** @type {((index: number) => Promise<unknown>)[]} */
export const kinds = [
  async (index) => {
    const { output } = await run(`echo ${index}`);
    assert.equal(output.kind === 'complete' && output.text, `${index}\n`);
  },
  async () => {
    const { stderr } = await run('echo out; echo err >&2; exit 3', { streams: 'separate' });
    assert.equal(stderr.kind === 'complete' && stderr.text, 'err\n');
  },
  async (index) => {
    const { output } = await run('cat', { input: `read ${index}`, priority: 'low' });
    assert.equal(output.kind === 'complete' && output.text, `read ${index}`);
  },
  async (index) => {
    const { content } = await workspace.execute({ command: `echo ${index}` });
    assert.match(content[0]?.text ?? '', new RegExp(`^${index}\n`));
  },
  async () => {
    const { isError } = await workspace.execute({ command: 'false' });
    assert.equal(isError, true);
  },
  async (index) => {
    const { content } = await modes.execute({ command: `echo ${index}`, mode: 'default' });
    assert.equal(content[0]?.text, `${index}\n`);
  },
  async (index) => assert.match(await inSession(`echo ${index}`), new RegExp(`^${index}`)),
  async (index) => {
    const { content } = await plain.execute({ command: `echo ${index}` });
    assert.match(content[0]?.text ?? '', new RegExp(`${index}\\\\n`));
  },
  async () => {
    const live = await spawn('read line; echo "$line"', { stdin: 'pipe' });
    await live.write('typed\n');
    const { outcome } = await live.result;
    assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 });
  },
  async () => {
    const call = { signal: AbortSignal.timeout(5) };
    await rejects(plain.execute({ command: 'sleep 5' }, call));
  },
  async () => {
    const { outcome } = await run('sleep 5', { timeoutMs: 5, graceMs: 100 });
    assert.equal(outcome.kind, 'timedOut');
  },
  async () => {
    const owner = createOwner();
    await run('sleep 60 & exit 0', { owner });
    await owner.dispose(50);
  },
  async (index) => {
    // One output in twenty is long, and kept in a file.
    if (Math.floor(index / kinds.length) % 20 !== 0) return run('true', { onOutput: () => {} });
    const tool = createBashTool({ contract: 'workspace', cwd });
    const { content } = await tool.execute({ command: 'seq 20000' }, { onUpdate: () => {} });
    assert.match(content[0]?.text ?? '', /artifact:/);
    return tool.dispose();
  },
  async () => {
    await assert.rejects(run('true', { cwd: '/there/is/none' }));
  },
  async () => {
    const { output } = await run('test -t 1 && echo yes', { pty: true });
    assert.equal(output.kind === 'complete' && output.text, 'yes\r\n');
  },
];

/** @param {number} index */
export async function makeTool(index) {
  const contract = CONTRACT_NAMES[index % CONTRACT_NAMES.length] ?? 'plain';
  const tool = createBashTool({ contract, cwd });
  if (index % 50 < CONTRACT_NAMES.length) await tool.execute({ command: 'true' });
  await tool.dispose();
}

export async function disposeKinds() {
  await Promise.all([workspace, modes, session, plain].map((tool) => tool.dispose()));
}
