import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Machine } from './machine.js';
import { type Registry, serveRegistry } from './registry.js';
import { NODES, programs } from './tarballs.js';

/** The package managers, and the file of each that Node or the kernel starts. */
const PROGRAMS = {
  pnpm8: 'pnpm@8',
  pnpm9: 'pnpm@9',
  pnpm10: 'pnpm@10',
  pnpm: 'pnpm@latest',
  yarn1: 'yarn@1',
  berry: '@yarnpkg/cli-dist@latest',
  bun: `@oven/bun-linux-${process.arch === 'x64' ? 'x64' : 'aarch64'}@latest`,
  node: NODES.node,
};

interface Manager {
  readonly program: keyof typeof PROGRAMS | 'npm';
  /** Within the program's package. */
  readonly file: string;
  readonly install: readonly string[];
  /** What runs Node where there is no node_modules. */
  readonly exec?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
}

const berry = (linker: string, scripts: boolean): Manager => ({
  program: 'berry',
  file: 'bin/yarn.js',
  install: ['install'],
  exec: ['node'],
  files: { '.yarnrc.yml': `nodeLinker: ${linker}\nenableScripts: ${scripts}\n` },
});

const pnpm = { file: 'bin/pnpm.cjs', install: ['install'] };

const MANAGERS: Readonly<Record<string, Manager>> = {
  npm: { program: 'npm', file: '', install: ['install'] },
  'npm --ignore-scripts': { program: 'npm', file: '', install: ['install', '--ignore-scripts'] },
  'pnpm 8': { program: 'pnpm8', ...pnpm },
  'pnpm 9': { program: 'pnpm9', ...pnpm },
  'pnpm 10': { program: 'pnpm10', ...pnpm },
  'pnpm latest': { program: 'pnpm', ...pnpm },
  'yarn 1': { program: 'yarn1', file: 'bin/yarn.js', install: ['install'] },
  'yarn latest, PnP, scripts on': berry('pnp', true),
  'yarn latest, PnP, scripts off': berry('pnp', false),
  'yarn latest, node_modules, scripts on': berry('node-modules', true),
  'yarn latest, node_modules, scripts off': berry('node-modules', false),
  bun: { program: 'bun', file: 'bin/bun', install: ['install'] },
};

let registry: Registry;
let machine: Machine;
let programOf: (name: keyof typeof PROGRAMS) => string;

beforeAll(async () => {
  programOf = programs('managers', PROGRAMS);
  registry = await serveRegistry(inject('tarballs'));
  // The newest pnpm wants a newer Node than the oldest that forkline runs on.
  machine = new Machine(registry.url, join(programOf('node'), 'bin/node'));
});

afterAll(() => {
  registry.close();
  machine.remove();
});

/** How the manager is started. */
function starter({ program, file }: Manager): readonly string[] {
  if (program === 'bun') return [join(programOf(program), file)];
  if (program !== 'npm') return ['node', fileOf(programOf(program), file)];
  return ['node', join(npmHome(), 'bin/npm-cli.js')];
}

/** Of a program whose file has changed its ending from one version to the next. */
const fileOf = (home: string, file: string): string =>
  [join(home, file), join(home, file.replace('.cjs', '.mjs'))].find(existsSync) ?? '';

const npmHome = (): string => join(process.execPath, '../../lib/node_modules/npm');

const SCRIPT = `import { run } from 'forkline';
console.log(JSON.stringify((await run('echo hi; exit 3')).outcome));`;

test.each(Object.entries(MANAGERS))(
  'G1: installed with %s where nothing can be compiled, it runs a command',
  async (name, manager) => {
    const project = machine.directory(name.replaceAll(/\W+/g, '-'), {
      'package.json': JSON.stringify({
        name: 'user',
        private: true,
        dependencies: { forkline: '*' },
      }),
      'main.mjs': SCRIPT,
      '.npmrc': `registry=${registry.url}\n`,
      ...manager.files,
      ...(manager.program === 'berry' && { 'yarn.lock': '' }),
    });
    const start = starter(manager);
    const installed = await machine.run(project, [...start, ...manager.install]);
    expect(installed.exitCode, installed.stdout + installed.stderr).toBe(0);
    const runs = manager.exec ? [...start, ...manager.exec] : ['node'];
    const result = await machine.run(project, [...runs, 'main.mjs']);
    expect(result.stdout.trim(), result.stderr).toBe('{"kind":"exited","exitCode":3}');
  },
);

test('there is indeed nothing to compile with', async () => {
  const tools = ['cargo', 'rustc', 'cc', 'c++', 'g++', 'clang', 'make', 'python3', 'node-gyp'];
  const project = machine.directory('none');
  const line = `command -v ${tools.join(' ')}`;
  expect((await machine.run(project, ['sh', '-c', line])).stdout).toBe('');
});
