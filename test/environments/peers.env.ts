import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { PEERS } from '../../src/support/peers/table.js';
import { Machine } from './machine.js';
import { type Registry, serveRegistry } from './registry.js';
import { NODES, programs } from './tarballs.js';

const lowest = (entry: keyof typeof PEERS) => PEERS[entry].from;

/**
 * By what an application has beside forkline: old versions, the lowest that are taken, early ones and the
 * newest. Some bring packages that want others of forkline's peers, in ranges that exclude each other.
 */
const BESIDE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'AI SDK 4': { ai: '4.3.19', zod: '^3.25.0' },
  'AI SDK 4, zod by itself': { ai: '4.3.19' },
  'AI SDK 5': { ai: '5.0.277' },
  'AI SDK, the lowest': { ai: lowest('forkline/ai-sdk') },
  'AI SDK, an early one': { ai: '7.0.0-canary.176' },
  'AI SDK, the newest': { ai: 'latest' },
  'Agents SDK 0.1': { '@openai/agents': '0.1.0', zod: '^3.25.0' },
  'Agents SDK 0.5': { '@openai/agents': '0.5.4', zod: '^4.0.0' },
  'Agents SDK, the lowest': { '@openai/agents': lowest('forkline/openai'), zod: '^4.0.0' },
  'Agents SDK, the newest': { '@openai/agents': 'latest', zod: 'latest' },
  "Anthropic's SDK 0.20": { '@anthropic-ai/sdk': '0.20.9' },
  "Anthropic's SDK, the lowest": { '@anthropic-ai/sdk': lowest('forkline/anthropic') },
  "Anthropic's SDK, the newest": { '@anthropic-ai/sdk': 'latest' },
  'LangChain 0.2': { '@langchain/core': '0.2.36' },
  'LangChain 0.3': { '@langchain/core': '0.3.80', '@langchain/langgraph': '^0.2.0' },
  'LangChain, the lowest': { '@langchain/core': lowest('forkline/langchain') },
  'LangChain, the newest': { '@langchain/core': 'latest', langchain: 'latest' },
  'Mastra 0.24': { '@mastra/core': '0.24.9', zod: '^3.25.0' },
  'Mastra, the newest': { '@mastra/core': 'latest', zod: 'latest' },
  'all of them, old': {
    ai: '4.3.19',
    '@openai/agents': '0.1.0',
    '@anthropic-ai/sdk': '0.20.9',
    '@langchain/core': '0.2.36',
    '@nats-io/transport-node': '3.0.0',
    zod: '^3.25.0',
  },
  'all of them, the newest': {
    ai: 'latest',
    '@openai/agents': 'latest',
    '@anthropic-ai/sdk': 'latest',
    '@langchain/core': 'latest',
    '@nats-io/transport-node': 'latest',
    zod: 'latest',
  },
};

/** The hardest of them that are quick; `npm run test:peers` tries all, and bash-tool, which takes half an hour. */
const HARDEST = ['AI SDK 4, zod by itself', 'all of them, the newest'];
const isWhole = process.env.FORKLINE_PEERS === 'all';
const tried = Object.entries(BESIDE).filter(([name]) => isWhole || HARDEST.includes(name));

const page = readFileSync(
  fileURLToPath(new URL('../../docs/frameworks.md', import.meta.url)),
  'utf8',
);

let registry: Registry;
let machine: Machine;
let programOf: (name: 'pnpm' | 'node') => string;

beforeAll(async () => {
  programOf = programs('peers', { pnpm: 'pnpm@10', node: NODES.node });
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  registry = await serveRegistry(inject('tarballs'), `${upstream.replace(/\/$/, '')}/`);
  machine = new Machine(registry.url, join(programOf('node'), 'bin/node'));
});

afterAll(() => {
  registry.close();
  machine.remove();
});

const projectOf = (name: string, dependencies: Readonly<Record<string, string>>): string =>
  machine.directory(name.replaceAll(/\W+/g, '-'), {
    'package.json': JSON.stringify({ name: 'user', private: true, dependencies }),
    '.npmrc': `registry=${registry.url}\naudit=false\nfund=false\nignore-scripts=true\n`,
  });

const npm = join(process.execPath, '../../lib/node_modules/npm/bin/npm-cli.js');
const RUN = `import('forkline').then(({ run }) => run('echo hi')).then(({ output }) => console.log(output.text))`;

test.each(tried)(
  'I2: npm installs forkline beside %s, and a command runs',
  { timeout: 300_000 },
  async (name, packages) => {
    const project = projectOf(`npm ${name}`, packages);
    const first = await machine.run(project, ['node', npm, 'install']);
    expect(first.exitCode, first.stderr).toBe(0);
    const second = await machine.run(project, ['node', npm, 'install', 'forkline']);
    expect(second.stderr).not.toContain('forkline');
    expect(second.exitCode, second.stderr).toBe(0);
    expect((await machine.run(project, ['node', '-e', RUN])).stdout).toBe('hi\n\n');
  },
);

test.each(tried)(
  'I2: pnpm with strict peers has nothing against forkline beside %s',
  { timeout: 300_000 },
  async (name, packages) => {
    const project = projectOf(`pnpm ${name}`, { ...packages, forkline: '*' });
    const pnpm = ['node', join(programOf('pnpm'), 'bin/pnpm.cjs'), 'install'];
    const flags = ['--strict-peer-dependencies', '--ignore-scripts'];
    const { stdout, stderr } = await machine.run(project, [...pnpm, ...flags]);
    // Other packages may well have something against each other.
    expect(stdout + stderr).not.toMatch(/─┬ forkline /);
    const installed = await machine.run(project, [...pnpm, '--ignore-scripts']);
    expect(installed.exitCode, installed.stdout + installed.stderr).toBe(0);
    expect((await machine.run(project, ['node', '-e', RUN])).stdout).toBe('hi\n\n');
  },
);

test.runIf(isWhole)(
  'I13: a model reads of bash-tool both ends of a long output, and how much is missing',
  {
    timeout: 300_000,
  },
  async () => {
    const project = projectOf('bash-tool', { 'bash-tool': '^1.3.19', ai: '^6.0.0', forkline: '*' });
    const [, example = ''] = /^### bash-tool\n.*?^```ts\n(.*?)^```$/ms.exec(page) ?? [];
    const script = [
      `import { createBashTool } from 'bash-tool';\nconst cwd = process.cwd();`,
      example,
      'const { bash } = await createBashTool({ sandbox, destination: cwd });',
      `const told = await bash.execute({ command: 'seq 1000000' }, {});`,
      'console.log(JSON.stringify(told));',
    ].join('\n');
    writeFileSync(join(project, 'main.mts'), script);
    const installed = await machine.run(project, ['node', npm, 'install']);
    expect(installed.exitCode, installed.stderr).toBe(0);
    const { stdout, stderr } = await machine.run(project, ['node', 'main.mts']);
    expect(stdout, stderr).toMatch(/^\{.*\}$/m);
    const told = JSON.parse(stdout.split('\n').at(-2) ?? '');
    expect(told, stderr).toMatchObject({ exitCode: 0, stderr: '' });
    expect(told.stdout).toMatch(
      /^1\n2\n.*\n\[… 6\.5MB, 99\d,\d{3} lines, not shown …\]\n.*\n1000000\n$/s,
    );
  },
);
