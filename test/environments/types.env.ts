import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Machine } from './machine.js';
import { link, projectOf } from './project.js';
import { type Registry, serveRegistry } from './registry.js';
import { NODES, programs } from './tarballs.js';

const PROGRAMS = {
  node20: NODES.node20,
  typescript5: 'typescript@5',
  'typescript-latest': 'typescript@latest',
  'node-types': '@types/node@20',
  'undici-types': 'undici-types@latest',
} as const;

type Program = keyof typeof PROGRAMS;

let registry: Registry;
let machine: Machine;
let project: string;
let programOf: (name: Program) => string;

const MAIN = `import { createBashTool, type RunResult, run, ToolError } from 'forkline';
import { toAnthropicTool } from 'forkline/adapters';

async function main(): Promise<void> {
  const result: RunResult = await run('echo hi', { streams: 'separate' });
  // @ts-expect-error An option that does not exist is seen.
  await run('true', { nonsense: 1 }).catch(() => {});
  const tool = createBashTool({ contract: 'plain', cwd: '/' });
  const { name } = toAnthropicTool(tool);
  await tool.dispose();
  const error: unknown = await tool.execute({ command: 'true' }).catch((thrown: unknown) => thrown);
  console.log(result.outcome.kind, name, error instanceof ToolError && error.kind);
}
void main();
`;

/** Of CommonJS alone: what it writes in the place of an import. */
const REQUIRED = `import forkline = require('forkline');
void forkline.run('echo hi').then(({ outcome }) => console.log(outcome.kind));
`;

/** A file of a project, its text, and what running it prints. */
type File = readonly [name: string, text: string, printed: string];

const main = (name: string): File => [name, MAIN, 'exited bash disposed\n'];
const required = (name: string): File => [name, REQUIRED, 'exited\n'];

/** By the compiler's option `module`: the type of the package, and its files. */
const PROJECTS: Readonly<Record<string, readonly [type: string, ...files: File[]]>> = {
  commonjs: ['commonjs', main('main.ts'), required('required.ts')],
  node16: ['commonjs', main('main.ts'), required('required.ts')],
  nodenext: ['module', main('main.ts'), main('other.cts'), required('required.cts')],
};

beforeAll(async () => {
  programOf = programs('types', PROGRAMS);
  registry = await serveRegistry(inject('tarballs'));
  machine = new Machine(registry.url);
  project = await projectOf(machine, 'project');
  link(project, { '@types/node': programOf('node-types') });
});

afterAll(() => {
  registry?.close();
  machine?.remove();
});

describe.each(['typescript5', 'typescript-latest'] as const)('%s', (version) => {
  test.each(Object.entries(PROJECTS))(
    'I11: programs compile and run: module %s',
    async (module, [type, ...files]) => {
      const compilerOptions = { module, target: 'es2022', types: ['node'], strict: true };
      const cwd = machine.directory(`project/${version}-${module}`, {
        'package.json': JSON.stringify({ private: true, type }),
        'tsconfig.json': JSON.stringify({ compilerOptions, files: files.map(([name]) => name) }),
        ...Object.fromEntries(files),
      });
      const node = join(programOf('node20'), 'bin/node');
      // Types of the libraries are checked as well: of Node, and forkline's own.
      const compiled = await machine.run(cwd, [
        node,
        join(programOf(version), 'bin/tsc'),
        '-p',
        '.',
      ]);
      expect(compiled).toEqual({ exitCode: 0, stdout: '', stderr: '' });
      for (const [name, , printed] of files) {
        const { stdout, stderr } = await machine.run(cwd, [node, name.replace('ts', 'js')]);
        expect(stdout + stderr).toBe(printed);
      }
    },
  );
});
