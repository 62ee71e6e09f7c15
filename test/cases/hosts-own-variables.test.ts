// U13: variables and functions of the host that commands must not take for their own, or that they need.
import { spawn } from 'node:child_process';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { createBashTool, exportedFunctions, InputError, run } from '../../src/index.js';
import { connect } from '../../src/remote/index.js';
import { HOSTS_OWN } from '../../src/support/hosts-own.js';
import { useBackground } from '../support/background.js';
import { endOf, program } from '../support/cli.js';
import { useDisposal } from '../support/disposal.js';
import { FAR_BUILT, STATIC_FAR } from '../support/far.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { answerOf, mcpArguments, useClients } from '../support/mcp.js';
import { where } from '../support/needs.js';
import { printed } from '../support/results.js';
import { waysIn } from '../support/ways.js';

leavesNothingBehind();
const { folder } = useBackground();
const keep = useDisposal();
const clients = useClients();

const SHOW = `echo "\${NODE_ENV-none} \${PORT-none}"`;
const FUNCTION = '() {  echo "loads $*"\n}';

beforeAll(() => {
  vi.stubEnv('NODE_ENV', 'production');
  vi.stubEnv('PORT', '3000');
  vi.stubEnv('BASH_FUNC_module%%', FUNCTION);
  vi.stubEnv('BASH_FUNC_ls%%', '() { echo replaced; }');
});

const ways = waysIn('/tmp').map(([name]) => name);
const wayOf = (name: string) => {
  const way = new Map(waysIn(folder.path)).get(name);
  if (way === undefined) throw new Error(name);
  return way;
};
const withPersistent = async (text: string, env: Record<string, string>) => {
  const tool = keep(
    createBashTool({ contract: 'session', cwd: folder.path, env, persistent: true }),
  );
  return String((await tool.execute({ command: text })).structured?.stdout).trim();
};

describe('U13: NODE_ENV and PORT of the host', () => {
  // `plain` inherits all of the host's variables by its contract.
  test.each(ways.filter((name) => name !== 'plain'))('are withheld: %s', async (name) => {
    expect(await wayOf(name)(SHOW, {})).toBe('none none\n');
    expect(await wayOf(name)(SHOW, { NODE_ENV: 'test', PORT: '1' })).toBe('test 1\n');
  });

  test('are withheld from a persistent shell', async () => {
    expect(await withPersistent(SHOW, {})).toBe('none none');
    expect(await withPersistent(SHOW, { PORT: '1' })).toBe('none 1');
  });

  test('reach a command that is to have all variables', async () => {
    expect(await wayOf('plain')(SHOW, {})).toBe('production 3000\n');
    expect(printed(await run(SHOW, { inheritEnv: 'all' }))).toBe('production 3000\n');
  });

  test('are withheld on a far side', () =>
    withheldBy([process.execPath, program, 'serve', '--stdio']));

  test('are withheld on a far side without Node', where(FAR_BUILT), () =>
    withheldBy([STATIC_FAR, 'serve', '--stdio']),
  );

  async function withheldBy(command: readonly string[]): Promise<void> {
    const env = { NODE_ENV: 'production', PORT: '3000' };
    const far = keep(await connect({ command, env }));
    expect(printed(await far.run(SHOW))).toBe('none none\n');
    expect(printed(await far.run(SHOW, { inheritEnv: 'all' }))).toBe('production 3000\n');
    expect(printed(await far.run(SHOW, { env: { PORT: '1' } }))).toBe('none 1\n');
  }

  test('are meant for the command of forkline run, which serves nothing itself', async () => {
    expect([...HOSTS_OWN]).toEqual(['NODE_ENV', 'PORT']);
    expect(await cliSays('run', SHOW)).toBe('production 3000\n');
    expect(await cliSays('run', '--env', 'PORT=1', SHOW)).toBe('production 1\n');
  });

  test('npm installs what a project needs for its development', async () => {
    const omitted = 'npm config get omit';
    expect(printed(await run(omitted, { cwd: folder.path }))).toBe('\n');
    expect(printed(await run(omitted, { cwd: folder.path, inheritEnv: 'all' }))).toBe('dev\n');
  });
});

describe('U13: exported functions of the host', () => {
  // Before a command line of programs, a prefix runs programs alone.
  test.each(ways.filter((name) => !name.includes('prefix')))(
    'are passed on by name, and no others: %s',
    async (name) => {
      const show = 'module load gcc; type -t ls';
      expect(await wayOf(name)(show, exportedFunctions(['module', 'ml']))).toBe(
        'loads load gcc\nfile\n',
      );
      expect(await wayOf(name)('type -t module || echo none', {})).toBe('none\n');
    },
  );

  test('are passed on to a persistent shell, and to a far side', async () => {
    const env = exportedFunctions(['module']);
    expect(await withPersistent('module a', env)).toBe('loads a');
    const command = [process.execPath, program, 'serve', '--stdio'];
    const far = keep(await connect({ command }));
    expect(printed(await far.run('module b', { env }))).toBe('loads b\n');
  });

  test('those that the host does not have are left out', () => {
    expect(exportedFunctions(['module', 'ml', 'toString'])).toEqual({
      'BASH_FUNC_module%%': FUNCTION,
    });
    expect(() => exportedFunctions('module' as never)).toThrow(InputError);
  });

  test('forkline run passes on a variable or function that is named without a value', async () => {
    expect(await cliSays('run', '--env', 'BASH_FUNC_module%%', 'module c')).toBe('loads c\n');
    const unset = ['run', '--env', 'FORKLINE_NOT_SET', 'true'];
    const { code, stderr } = await startedCli(...unset);
    expect(code).toBe(2);
    expect(stderr).toContain('Expected NAME=value, or NAME of a variable that is set here.');
  });

  test('forkline mcp does, too', async () => {
    const args = mcpArguments('--env', 'BASH_FUNC_module%%', '--env', 'PORT');
    const env = { ...getDefaultEnvironment(), 'BASH_FUNC_module%%': FUNCTION, PORT: '3000' };
    const transport = new StdioClientTransport({ command: process.execPath, args, env });
    const client = await clients.connect(transport);
    const call = { name: 'bash', arguments: { command: `module d; ${SHOW}` } };
    expect(answerOf(await client.callTool(call))).toMatch(/^loads d\nnone 3000\n/);
  });
});

function startedCli(...args: readonly string[]) {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  return endOf(spawn(process.execPath, [program, ...args], { stdio: [...stdio] }));
}

async function cliSays(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await startedCli(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.toString();
}
