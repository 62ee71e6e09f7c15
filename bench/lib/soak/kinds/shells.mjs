// Shells that last, snapshots of a user's shell, limits, terminals.
/** @import { Kind, Room } from '../kind.d.ts' */
/** @import { Scene } from '../scene.mjs' */
import { strict as assert } from 'node:assert';
import { loadForkline } from '../../../peers/forkline.mjs';

const { createBashTool, run, spawn, textOf } = await loadForkline();

const cwd = '/';
const SHELLS = 4;

/**
 * @param {Scene} scene
 * @returns {Promise<Room>}
 */
export async function shellKinds({ rcFile, repository }) {
  const persistent = Array.from({ length: SHELLS }, () =>
    createBashTool({ contract: 'session', cwd, persistent: true }),
  );
  const mortal = createBashTool({ contract: 'session', cwd, persistent: true });
  const confined = createBashTool({
    ...{ contract: 'session', cwd: repository, persistent: true, sandbox: 'workspace-write' },
  });
  const snapshot = { contract: /** @type {const} */ ('workspace'), cwd, shellSnapshot: { rcFile } };
  const known = createBashTool(snapshot);
  /** @param {typeof mortal} tool @param {string} command */
  const stdoutOf = async (tool, command) =>
    String((await tool.execute({ command })).structured?.stdout);
  /** @type {Kind[]} */
  const kinds = [
    {
      name: 'persistent shell',
      every: 30,
      work: async (index) => {
        const tool = persistent[index % SHELLS] ?? mortal;
        assert.equal(await stdoutOf(tool, `x=${index}; cd /tmp; cd /; echo $x`), `${index}\n`);
      },
    },
    {
      name: 'persistent shell in a sandbox',
      every: 250,
      work: async () => assert.equal(await stdoutOf(confined, 'cat file'), 'text\n'),
    },
    {
      name: 'persistent shell that restarts',
      every: 1000,
      work: async () => {
        const { structured } = await mortal.execute({ restart: true, command: 'echo new' });
        assert.equal(structured?.stdout, 'new\n');
      },
    },
    {
      name: 'persistent shell that dies',
      every: 1000,
      work: async (index) => {
        const { structured } = await mortal.execute({
          command: index % 2 === 0 ? 'exit 3' : 'kill -9 $$',
        });
        assert.match(JSON.stringify(structured?.notices), /The shell has ended/);
      },
    },
    {
      name: 'persistent shell, made and disposed of',
      every: 1000,
      work: async () => {
        const tool = createBashTool({ contract: 'session', cwd, persistent: true });
        await stdoutOf(tool, 'sleep 60 & true');
        await tool.dispose();
      },
    },
    {
      name: 'snapshot of a shell, used',
      every: 100,
      work: async () => {
        const { content } = await known.execute({ command: 'greet you' });
        assert.match(content[0]?.text ?? '', /^hello you/);
      },
    },
    {
      name: 'snapshot of a shell, made',
      every: 1000,
      work: async () => {
        const tool = createBashTool(snapshot);
        const { content } = await tool.execute({ command: 'greet you' });
        assert.match(content[0]?.text ?? '', /^hello you/);
        await tool.dispose();
      },
    },
    {
      name: 'typed on a terminal',
      every: 250,
      work: async (index) => {
        const live = await spawn('read x; echo "got $x"', { pty: true });
        await live.resize(80 + (index % 40), 24);
        await live.write('abc\r');
        const result = await live.result;
        assert.match('output' in result ? textOf(result.output) : '', /got abc/);
      },
    },
    {
      name: 'limit of processor time',
      every: 250,
      work: () => run('true', { limits: { cpuSeconds: 10 } }),
    },
  ];
  const limits = { memoryBytes: 64 * 1024 * 1024, processes: 20 };
  // Where no control group can be made, limits of that kind are refused.
  if (await run('true', { limits }).catch(() => undefined)) {
    kinds.push({
      name: 'limits by a control group',
      every: 250,
      work: () => run('true', { limits }),
    });
  }
  const tools = [...persistent, mortal, confined, known];
  return { kinds, dispose: () => Promise.all(tools.map((tool) => tool.dispose())) };
}
