// Sandboxed commands: of one repository, of ever new directories, with what is held back, ports and domains.
/** @import { Room } from '../kind.d.ts' */
/** @import { Scene } from '../scene.mjs' */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { loadForkline } from '../../../peers/forkline.mjs';

const { createBashTool, run, TaskManager } = await loadForkline();

const GREETER = [
  'import socket',
  's = socket.create_server(("127.0.0.1", 0))',
  'print(s.getsockname()[1], flush=True)',
  'while True: s.accept()[0].sendall(b"inside")',
].join('\n');

/** @param {number} port @returns {Promise<string>} */
const answerOf = (port) =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', (data) => resolve(data.toString()));
    socket.once('error', reject);
    socket.once('data', () => socket.destroy());
  });

/**
 * @param {Scene} scene
 * @returns {Promise<Room>}
 */
export async function sandboxKinds({ repository, folder }) {
  const cwd = repository;
  const sandbox = 'workspace-write';
  const tool = createBashTool({ contract: 'session', cwd, sandbox });
  const tasks = new TaskManager({ keepMs: 1000, maxRunning: 100 });
  const server = createServer((_, answer) => answer.end('outside'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const ask = (/** @type {string} */ host) => `curl -sS --noproxy '' http://${host}:${port}/`;
  /** @type {Room['kinds']} */
  const kinds = [
    {
      name: 'sandboxed',
      every: 40,
      work: async (index) => {
        const { output, sandbox: report } = await run(`echo ${index} >new; cat file`, {
          cwd,
          sandbox,
        });
        assert.equal(output.kind === 'complete' && output.text, 'text\n');
        assert.equal(report?.enforced.write, 'namespace');
      },
    },
    {
      name: 'git in a sandboxed tool',
      every: 200,
      work: async () => {
        const { content } = await tool.execute({ command: 'git log --format=%s' });
        assert.match(content[0]?.text ?? '', /^first/);
      },
    },
    {
      name: 'what a sandbox denies',
      every: 400,
      work: async () => {
        const { outcome } = await run('echo no >/etc/soak', { cwd, sandbox });
        assert.deepEqual(outcome, { kind: 'exited', exitCode: 1 });
      },
    },
    {
      name: 'sandbox of a new directory',
      every: 200,
      work: async () => {
        const fresh = await mkdtemp(join(folder, 'fresh-'));
        const { outcome } = await run('echo yes >here', { cwd: fresh, sandbox });
        assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 });
        await rm(fresh, { recursive: true });
      },
    },
    {
      name: 'held back',
      every: 500,
      work: async (index) => {
        const fresh = await mkdtemp(join(folder, 'held-'));
        const command = `git config core.fsmonitor ./run-${index}`;
        const made = await run(`git init -q && git commit -q --allow-empty -m x`, {
          cwd: fresh,
          env: {
            GIT_AUTHOR_NAME: 'a',
            GIT_AUTHOR_EMAIL: 'a@a.test',
            GIT_COMMITTER_NAME: 'a',
            GIT_COMMITTER_EMAIL: 'a@a.test',
          },
        });
        assert.deepEqual(made.outcome, { kind: 'exited', exitCode: 0 });
        const { heldBack } = await run(command, { cwd: fresh, sandbox });
        assert.equal(heldBack.length, 1);
        if (index % 2 === 0) await heldBack[0]?.drop();
        else assert.equal(await heldBack[0]?.accept(), 'put');
        await rm(fresh, { recursive: true });
      },
    },
    {
      name: 'ports',
      every: 1000,
      work: async () => {
        const options = {
          cwd,
          sandbox: { ports: /** @type {const} */ ({ publish: 'auto' }) },
          graceMs: 0,
        };
        const task = await tasks.start(`exec python3 -c '${GREETER}'`, options);
        let url;
        // The port is published some moments after it is open.
        while (url === undefined) {
          const awaited = await task.wait({ port: true, atMostMs: 30_000 });
          assert.equal(awaited.kind, 'listening');
          url = 'url' in awaited ? awaited.url : undefined;
        }
        assert.equal(await answerOf(Number(new URL(url).port)), 'inside');
        await task.stop();
      },
    },
    {
      name: 'domains',
      every: 500,
      work: async (index) => {
        const network = { allowedDomains: ['localhost'] };
        const isAllowed = index % 2 === 0;
        const { output } = await run(ask(isAllowed ? 'localhost' : '127.0.0.1'), {
          cwd,
          sandbox: { network },
        });
        assert.equal(output.kind === 'complete' && output.text === 'outside', isAllowed);
      },
    },
  ];
  const dispose = async () => {
    await tool.dispose();
    tasks.dispose();
    server.closeAllConnections();
    server.close();
  };
  return { kinds, dispose };
}
