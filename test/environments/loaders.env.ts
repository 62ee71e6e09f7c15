import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Machine } from './machine.js';
import { link, OUTPUT, projectOf, smoke, smokeAsCommonJs, troublesIn } from './project.js';
import { type Registry, serveRegistry } from './registry.js';
import { NODES, programs } from './tarballs.js';

const PROGRAMS = {
  ...NODES,
  tsx: 'tsx@latest',
  'ts-node': 'ts-node@latest',
  // Of the last one that is written in JavaScript, as `ts-node` needs it.
  typescript: 'typescript@5',
  vitest3: 'vitest@3',
  'vitest-latest': 'vitest@latest',
  jest: 'jest@latest',
  berry: '@yarnpkg/cli-dist@latest',
} as const;

type Program = keyof typeof PROGRAMS;

let registry: Registry;
let machine: Machine;
let project: string;
let programOf: (name: Program) => string;

/** Passed to each runner: the check set, and a second file that has a copy of forkline of its own. */
const RUNNERS = {
  'vitest/smoke.test.mjs': `import { test } from 'vitest';
test('the check set', async () => (await import('./smoke.mjs')).finished, 90_000);`,
  'vitest/second.test.mjs': `import { createBashTool, ToolError } from 'forkline';
import { expect, test } from 'vitest';
test('a second file', async () => {
  const tool = createBashTool({ contract: 'plain', cwd: '/' });
  await tool.dispose();
  await expect(tool.execute({ command: 'true' })).rejects.toBeInstanceOf(ToolError);
});`,
  'jest/package.json': '{"private":true,"jest":{"testMatch":["**/*.test.cjs"]}}',
  'jest/smoke.test.cjs': `test('the check set', () => require('./smoke.cjs').finished, 90_000);`,
  'jest/second.test.cjs': `const { createBashTool, ToolError } = require('forkline');
test('a second file', async () => {
  const tool = createBashTool({ contract: 'plain', cwd: '/' });
  await tool.dispose();
  await expect(tool.execute({ command: 'true' })).rejects.toBeInstanceOf(ToolError);
});`,
  'jest-esm/package.json':
    '{"private":true,"type":"module","jest":{"transform":{},"testMatch":["**/*.test.mjs"],' +
    '"moduleFileExtensions":["mjs","js","cjs","json","node"]}}',
  'jest-esm/smoke.test.mjs': `import { finished } from './smoke.mjs';
test('the check set', () => finished, 90_000);`,
};

beforeAll(async () => {
  programOf = programs('loaders', PROGRAMS);
  registry = await serveRegistry(inject('tarballs'));
  machine = new Machine(registry.url);
  project = await projectOf(machine, 'project', {
    'cjs/package.json': '{"private":true}',
    'cjs/smoke.cjs': smokeAsCommonJs(),
    'cjs/smoke.ts': smoke(),
    'cjs/tsconfig.json': tsconfig('commonjs'),
    'esm/smoke.ts': smoke(),
    'esm/package.json': '{"private":true,"type":"module"}',
    'esm/tsconfig.json': tsconfig('esnext'),
    'vitest/smoke.mjs': smoke(),
    'jest/smoke.cjs': smokeAsCommonJs(),
    'jest-esm/smoke.mjs': smoke(),
    ...RUNNERS,
  });
  link(project, { typescript: programOf('typescript') });
});

afterAll(() => {
  registry?.close();
  machine?.remove();
});

const tsconfig = (module: string): string =>
  JSON.stringify({ compilerOptions: { module, target: 'es2022', moduleResolution: 'node' } });

const nodeOf = (name: Program): string => join(programOf(name), 'bin/node');

/** The check set's file, and what starts it: a Node, and arguments in which `#` is where a program lies. */
const LOADERS: Readonly<Record<string, readonly [Program, ...string[]]>> = {
  'require() of Node 20': ['node20', 'cjs/smoke.cjs'],
  'require() of Node 22': ['node22', 'cjs/smoke.cjs'],
  'require() of Node 24': ['node24', 'cjs/smoke.cjs'],
  'require() of the latest Node': ['node', 'cjs/smoke.cjs'],
  'the types of the latest Node': ['node', 'esm/smoke.ts'],
  'I1: tsx, ES modules, Node 20': ['node20', '#tsx/dist/cli.mjs', 'esm/smoke.ts'],
  'I1: tsx, CommonJS, Node 20': ['node20', '#tsx/dist/cli.mjs', 'cjs/smoke.ts'],
  'I1: tsx, ES modules, the latest Node': ['node', '#tsx/dist/cli.mjs', 'esm/smoke.ts'],
  'I1: tsx, CommonJS, the latest Node': ['node', '#tsx/dist/cli.mjs', 'cjs/smoke.ts'],
  'I1: tsx by --import, Node 20': ['node20', '--import', '#tsx/dist/loader.mjs', 'esm/smoke.ts'],
  'ts-node, CommonJS': ['node20', '#ts-node/dist/bin.js', '-T', 'cjs/smoke.ts'],
  'ts-node, ES modules': [
    ...(['node20', '--loader', '#ts-node/esm/transpile-only.mjs'] as const),
    ...['--no-warnings', 'esm/smoke.ts'],
  ],
};

test.concurrent.each(Object.entries(LOADERS))(
  'one copy of the code, and the check set passes: %s',
  async (_, [node, ...args]) => {
    const given = args.map((arg) =>
      arg.replace(/^#([\w-]+)/, (_, name) => programOf(name as Program)),
    );
    // Types are relative to a project's own configuration.
    const cwd = join(project, (args.at(-1) ?? '').split('/')[0] ?? '');
    const file = (given.pop() ?? '').replace(/^\w+\//, '');
    const ended = await machine.run(cwd, [nodeOf(node), ...given, file]);
    expect(troublesIn(ended)).toEqual([]);
  },
);

/** Starts a test runner, and returns what of the check set failed, and how the runner ended if not well. */
async function troublesOfRunner(cwd: string, command: readonly string[]): Promise<unknown[]> {
  const output = join(machine.home, 'smoke-output');
  rmSync(output, { force: true });
  const ended = await machine.run(cwd, command, { [OUTPUT]: output, CI: '1', NO_COLOR: '1' });
  return troublesIn({ ...ended, stdout: textOf(output) || ended.stdout });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

describe.each(['vitest3', 'vitest-latest'] as const)('%s', (version) => {
  test.each(['threads', 'forks', 'vmThreads', 'vmForks'])(
    'I1: one copy of the code, and the check set passes: pool %s',
    async (pool) => {
      const cwd = join(project, 'vitest');
      rmSync(join(cwd, 'node_modules'), { recursive: true, force: true });
      link(cwd, { vitest: programOf(version) });
      const flags = ['--pool', pool, '--no-file-parallelism', '--dir', cwd];
      const vitest = join(programOf(version), 'vitest.mjs');
      const troubles = await troublesOfRunner(cwd, [nodeOf('node24'), vitest, 'run', ...flags]);
      expect(troubles).toEqual([]);
    },
  );
});

test.each([
  ['CommonJS, Node 20', 'node20', 'jest', []],
  ['CommonJS, the latest Node', 'node', 'jest', []],
  ['--experimental-vm-modules, Node 20', 'node20', 'jest-esm', ['--experimental-vm-modules']],
  ['--experimental-vm-modules', 'node', 'jest-esm', ['--experimental-vm-modules']],
] as const)(
  'I9: in Jest, one copy of the code, and the check set passes: %s',
  async (_, node, folder, flags) => {
    const cwd = join(project, folder);
    const jest = join(programOf('jest'), 'bin/jest.js');
    const command = [nodeOf(node), ...flags, jest, '--runInBand', '--rootDir', cwd];
    expect(await troublesOfRunner(cwd, command)).toEqual([]);
  },
);

test.each([
  ['node20', 'smoke.mjs'],
  ['node20', 'smoke.cjs'],
  ['node', 'smoke.mjs'],
  ['node', 'smoke.cjs'],
] as const)('I7: by yarn PnP, the check set passes: %s, %s', async (version, file) => {
  const node = nodeOf(version);
  const yarn = [node, join(programOf('berry'), 'bin/yarn.js')];
  const cwd = machine.directory(`pnp-${version}-${file}`, {
    'package.json': '{"name":"user","private":true,"dependencies":{"forkline":"*"}}',
    'smoke.mjs': smoke(),
    'smoke.cjs': smokeAsCommonJs(),
    '.yarnrc.yml': 'nodeLinker: pnp\n',
    'yarn.lock': '',
  });
  const installed = await machine.run(cwd, [...yarn, 'install']);
  expect(installed.exitCode, installed.stdout).toBe(0);
  expect(troublesIn(await machine.run(cwd, [...yarn, 'node', file]))).toEqual([]);
});
