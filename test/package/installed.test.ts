import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bareMachine, type Machine, packEverything, type Tarballs } from './machine.js';

let machine: Machine;
let tarballs: Tarballs;

beforeAll(async () => {
  machine = bareMachine();
  tarballs = await packEverything();
}, 300_000);

afterAll(() => machine.remove());

async function projectWith(name: string, packages: readonly string[]): Promise<string> {
  const project = machine.directory(name);
  const { exitCode, stderr } = await machine.run(project, ['npm', 'i', '--offline', ...packages]);
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  return project;
}

const filesBelow = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const runHi = `run('echo hi').then((result) => console.log(result.output.text.trim()))`;
const failHi = `run('echo hi').catch((error) => console.log(error.code + ': ' + error.message))`;
const required = (statement: string) => [
  'node',
  '-e',
  `const { run } = require('forkline'); ${statement}`,
];
const imported = (statement: string) => [
  'node',
  '--input-type=module',
  '-e',
  `import { run } from 'forkline'; ${statement}`,
];
const commandLine = (line: string) => ['npx', '--offline', 'forkline', 'run', line];

describe('both packages, installed offline where nothing can be compiled', () => {
  let project: string;

  beforeAll(async () => {
    project = await projectWith('both', [tarballs.main, tarballs.platform]);
  });

  test('there is no compiler', async () => {
    const tools = ['cargo', 'rustc', 'cc', 'c++', 'g++', 'clang', 'make', 'python3'];
    const { stdout } = await machine.run(project, ['sh', '-c', `command -v ${tools.join(' ')}`]);
    expect(stdout).toBe('');
  });

  test('import runs a command', async () => {
    const result = await machine.run(project, imported(runHi));
    expect(result).toMatchObject({ exitCode: 0, stdout: 'hi\n' });
  });

  test('require runs a command', async () => {
    const result = await machine.run(project, required(runHi));
    expect(result).toMatchObject({ exitCode: 0, stdout: 'hi\n' });
  });

  test('npx prints the output of a command and exits with its exit code', async () => {
    const result = await machine.run(project, commandLine('echo hi; exit 3'));
    expect(result).toEqual({ exitCode: 3, stdout: 'hi\n', stderr: '' });
  });

  test('tool definitions come from the command line and from a part of the package alike', async () => {
    const script =
      "import { createBashTool } from 'forkline'; import { toMcpTool } from 'forkline/adapters';" +
      "console.log(JSON.stringify([toMcpTool(createBashTool({ contract: 'plain' }))], null, 2));";
    const part = await machine.run(project, ['node', '--input-type=module', '-e', script]);
    const line = ['npx', '--offline', 'forkline', 'schema', '--contract', 'plain'];
    const printed = await machine.run(project, [...line, '--format', 'mcp']);
    expect(part).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(part.stdout)).toMatchObject([{ name: 'bash' }]);
    expect(printed).toEqual(part);
  });

  test.each(['README.md', 'docs/mcp.md'])(
    "the command of %s serves an MCP client, with the package's own code only",
    async (file) => {
      const page = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      const [snippet = ''] = /\{ "mcpServers".*\}/.exec(page) ?? [];
      const { command, args } = JSON.parse(snippet).mcpServers.shell;
      const transport = new StdioClientTransport({
        ...machine.start(project, [command, ...args]),
        stderr: 'pipe',
      });
      let stderr = '';
      transport.stderr?.on('data', (chunk: Buffer) => {
        stderr += chunk;
      });
      const client = new Client({ name: 'installed', version: '1.0.0' });
      await client.connect(transport);
      try {
        expect(client.getServerVersion()).toMatchObject({ name: 'forkline' });
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual([
          ...['bash', 'task_output', 'write_task', 'kill_task', 'list_tasks'],
        ]);
        const result = await client.callTool({ name: 'bash', arguments: { command: 'pwd' } });
        expect(result).toMatchObject({ content: [{ type: 'text', text: project }] });
      } finally {
        await client.close();
      }
      expect(stderr).toBe('');
    },
  );

  test('forkline/mcp is imported and required', async () => {
    const show = 'console.log(typeof mcp.serveStdio)';
    const scripts = [
      ['--input-type=module', '-e', `import * as mcp from 'forkline/mcp'; ${show}`],
      ['-e', `const mcp = require('forkline/mcp'); ${show}`],
    ];
    for (const script of scripts) {
      const result = await machine.run(project, ['node', ...script]);
      expect(result).toMatchObject({ exitCode: 0, stdout: 'function\n' });
    }
  });

  test('the keeper is installed and can be executed', () => {
    const keeper = join(project, 'node_modules/@forkline/engine-linux-x64-gnu/forkline-keeper');
    expect(statSync(keeper).mode & 0o777).toBe(0o755);
  });

  test('no package has an install script, and nothing could be built', () => {
    const lock = readFileSync(join(project, 'package-lock.json'), 'utf8');
    expect(lock).not.toContain('hasInstallScript');
    expect(existsSync(join(project, 'node_modules/forkline/native'))).toBe(false);
  });

  test('an install brings two packages, and not more than is told of them', () => {
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    expect(Object.keys(lock.packages).sort()).toEqual([
      '',
      'node_modules/@forkline/engine-linux-x64-gnu',
      'node_modules/forkline',
    ]);
    const files = filesBelow(join(project, 'node_modules'));
    // A quick build's binaries have their symbols, and are no measure.
    const own = files.filter((path) => !/\.node$|-keeper$/.test(path));
    const bytes = own.reduce((sum, path) => sum + statSync(path).size, 0);
    expect(bytes).toBeLessThan(4_900_000);
  });

  test('FORKLINE_BINDING overrides the installed binary', async () => {
    const env = { FORKLINE_BINDING: 'nowhere.node' };
    const { stdout } = await machine.run(project, imported(failHi), env);
    expect(stdout).toBe(
      'FORKLINE_NO_BINDING: FORKLINE_BINDING names a file that does not exist: nowhere.node\n',
    );
  });

  test('a binary that does not load says so instead of passing for a missing one', async () => {
    writeFileSync(join(project, 'broken.node'), 'not a shared object');
    const env = { FORKLINE_BINDING: 'broken.node' };
    const { stdout } = await machine.run(project, imported(failHi), env);
    expect(stdout).toMatch(/^ERR_DLOPEN_FAILED: .*broken\.node/);
  });
});

describe('the main package without its platform package', () => {
  let project: string;

  beforeAll(async () => {
    project = await projectWith('alone', [tarballs.main]);
  });

  test('run() names the missing package and says what to do', async () => {
    const { stdout } = await machine.run(project, imported(failHi));
    expect(stdout).toBe(
      'FORKLINE_NO_BINDING: forkline has no native binary for linux x64 with glibc: install its ' +
        'optional dependency @forkline/engine-linux-x64-gnu (a lock file made on another platform, ' +
        'or --omit=optional, leaves it out), or with Rust and a C++ compiler, run ' +
        "'npm ci' in its sources and set FORKLINE_BINDING to the .node file\n",
    );
  });

  test('the command line says the same, and fails', async () => {
    const result = await machine.run(project, commandLine('echo hi'));
    expect(result.exitCode).not.toBe(0);
    expect(result.stdout).toBe('');
    expect(result.stderr).toContain('forkline has no native binary for linux x64 with glibc');
  });
});
