import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Machine } from './machine.js';
import { projectOf, troublesIn } from './project.js';
import { type Registry, serveRegistry } from './registry.js';
import { NODES, programs } from './tarballs.js';

const { arch } = process;

const PROGRAMS = {
  ...NODES,
  bun: `@oven/bun-linux-${arch === 'x64' ? 'x64' : 'aarch64'}@latest`,
  deno: `@deno/linux-${arch}-glibc@latest`,
};

/** What starts the check set in the main thread of each, or otherwise. */
const RUNTIMES: Readonly<Record<string, readonly [keyof typeof PROGRAMS, ...string[]]>> = {
  'Node 20': ['node20', 'bin/node', 'smoke.mjs'],
  'Node 22': ['node22', 'bin/node', 'smoke.mjs'],
  'Node 24': ['node24', 'bin/node', 'smoke.mjs'],
  'the latest Node': ['node', 'bin/node', 'smoke.mjs'],
  'a worker thread of the oldest Node': ['node20', 'bin/node', 'worker.mjs'],
  'a worker thread of the latest Node': ['node', 'bin/node', 'worker.mjs'],
  'a worker of node:cluster': ['node', 'bin/node', 'cluster.mjs'],
  Bun: ['bun', 'bin/bun', 'smoke.mjs'],
  'a worker thread of Bun': ['bun', 'bin/bun', 'worker.mjs'],
  Deno: ['deno', 'deno', 'run', '--allow-all', '--node-modules-dir=manual', 'smoke.mjs'],
};

const FILES = {
  'worker.mjs': `import { Worker } from 'node:worker_threads';
new Worker(new URL('smoke.mjs', import.meta.url));`,
  'cluster.mjs': `import cluster from 'node:cluster';
if (cluster.isPrimary) cluster.fork();
else import('./smoke.mjs').then(({ finished }) => finished).then(() => cluster.worker.disconnect());`,
};

/** What starts a program of long-lived shells in each. */
const SHELLS: typeof RUNTIMES = {
  'I3: Bun': ['bun', 'bin/bun', 'shells.mjs'],
  'I4: Deno': ['deno', 'deno', 'run', '--allow-all', '--node-modules-dir=manual', 'shells.mjs'],
  'the latest Node': ['node', 'bin/node', 'shells.mjs'],
};

let registry: Registry;
let machine: Machine;
let project: string;
let programOf: (name: keyof typeof PROGRAMS) => string;

beforeAll(async () => {
  programOf = programs('runtimes', PROGRAMS);
  registry = await serveRegistry(inject('tarballs'));
  machine = new Machine(registry.url);
  project = await projectOf(machine, 'project', FILES);
});

afterAll(() => {
  registry.close();
  machine.remove();
});

test.each(Object.entries(RUNTIMES))('%s passes the check set', async (_, [name, file, ...args]) => {
  const ended = await machine.run(project, [join(programOf(name), file ?? ''), ...args]);
  expect(troublesIn(ended)).toEqual([]);
});

test.each(Object.entries(SHELLS))(
  '%s keeps shells, serves the network of sandboxes, and lives on',
  async (_, [name, file, ...args]) => {
    const ended = await machine.run(project, [join(programOf(name), file ?? ''), ...args]);
    expect(troublesIn(ended, 9)).toEqual([]);
  },
);
