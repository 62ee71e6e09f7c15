import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { endOf, program } from '../support/cli.js';
import { runHost } from '../support/hosts.js';
import { useFolder } from '../support/leftovers.js';
import { answerOf, mcpArguments, useClients } from '../support/mcp.js';

const folder = useFolder();
const clients = useClients();

/** A user that no list of users knows, as a container's may be: files stay those of the tests' user. */
const STRANGER = ['unshare', '-U', '--map-user=4711', '--map-group=4711'];

/** Makes Node fail to find a home, for a user that has one. */
function withoutHomeInNode(): string {
  const path = folder.file('no-home.mjs');
  writeFileSync(
    path,
    `import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';
os.homedir = os.userInfo = () => { throw new Error('uv_os_homedir returned ENOENT'); };
syncBuiltinESMExports();`,
  );
  return `--import=${path}`;
}

type Way = 'a user without an entry' | 'a Node that finds no home';

function surroundings(way: Way, engine: string) {
  const env = { HOME: undefined, FORKLINE_ENGINE: engine, TMPDIR: folder.path };
  return way === 'a user without an entry'
    ? { under: STRANGER, env }
    : { env: { ...env, NODE_OPTIONS: withoutHomeInNode() } };
}

const ROADS = ['run', 'spawn', 'workspace', 'session', 'modes', 'plain', 'tasks', 'far'];
const NATIVE = ['terminal', 'persistent', 'detached', 'sandbox'];

const ways = ['a user without an entry', 'a Node that finds no home'] as const;
test.each(
  ways.flatMap((way) => (['native', 'portable'] as const).map((engine) => ({ way, engine }))),
)('I8: without HOME, $way runs commands on every road, $engine', async ({ way, engine }) => {
  const said = await runHost<Record<string, unknown>>('homeless', {
    ...surroundings(way, engine),
    args: [folder.path, program],
  });
  expect(said.home).toMatch(/uv_os_homedir returned ENOENT/);
  for (const road of [...ROADS, ...(engine === 'native' ? NATIVE : [])]) {
    expect([road, said[road]]).toEqual([road, expect.stringContaining('ran 42')]);
  }
  const user = way === 'a user without an entry' ? '4711' : '\\d+';
  const none = `user ${user} has no home directory`;
  expect(said['~ as cwd']).toMatch(
    new RegExp(`cwd: expected a path without "~", since ${none} .*, got "~/work"`),
  );
  expect(said.snapshot).toEqual([
    expect.stringContaining('ran 42'),
    expect.stringMatching(new RegExp(`^shellSnapshot: not used, ~/\\.bashrc: ${none}`)),
  ]);
  if (engine === 'native') {
    expect(said['~ in a policy']).toMatch(
      new RegExp(`sandbox: expected a path without "~", since ${none} .*, got "~/cache"`),
    );
  }
  // The shell decides by itself, which takes `/` for the home of a user without an entry.
  if (way === 'a user without an entry') expect(said['cd ~']).toMatch(/^\/+etc\n/);
});

test('I8, U13: the program works for a user without a home, and doctor says so', async () => {
  const { HOME: _, ...env } = process.env;
  const asStranger = (...args: readonly string[]) => {
    const [unshare = '', ...before] = STRANGER;
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const all = [...before, process.execPath, program, ...args];
    return endOf(spawn(unshare, all, { env, stdio: [...stdio] }));
  };
  const ran = await asStranger('run', '--', 'echo ran');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout.toString()).toBe('ran\n');
  const doctor = await asStranger('doctor', '--json');
  const { canRun, findings } = JSON.parse(doctor.stdout.toString());
  const of = (name: string) => findings.find((each: { name: string }) => each.name === name);
  expect({ canRun, code: doctor.code }).toEqual({ canRun: true, code: 0 });
  expect(of('commands').found).toMatch(/^one ran in \d+ ms/);
  expect(of('sandbox').found).not.toMatch(/homedir/);
});

test('I8: the MCP server answers for a user without a home', async () => {
  const [command = '', ...before] = STRANGER;
  const args = [...before, process.execPath, ...mcpArguments()];
  const client = await clients.connect(
    new StdioClientTransport({ command: 'env', args: ['-u', 'HOME', command, ...args] }),
  );
  const result = await client.callTool({ name: 'bash', arguments: { command: 'echo ran' } });
  expect(answerOf(result)).toMatch(/^ran\n/);
});
