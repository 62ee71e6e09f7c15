// Checks forkline/sandboxes/mastra against the real package, which is too big for a development
// dependency: `node scripts/mastra.mjs`, after a build. The package is installed into a temporary
// directory.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'forkline-mastra-'));
const run = (/** @type {string} */ program, /** @type {string[]} */ ...args) =>
  execFileSync(program, args, { cwd: directory, stdio: ['ignore', 'inherit', 'inherit'] });

const TYPES = `
import * as base from '@mastra/core/workspace';
import { createWorkspaceSandbox } from 'forkline/sandboxes/mastra';

const sandbox = await createWorkspaceSandbox({ base });
const asked: base.WorkspaceSandbox = sandbox;
void new base.Workspace({ sandbox: asked });
`;

const WORK = `
import assert from 'node:assert/strict';
import * as base from '@mastra/core/workspace';
import { createWorkspaceSandbox } from 'forkline/sandboxes/mastra';

const sandbox = await createWorkspaceSandbox({ base, root: process.cwd(), graceMs: 500 });
const workspace = new base.Workspace({ sandbox });
await workspace.init();
const tools = await base.createWorkspaceTools(workspace);
const shell = tools.mastra_workspace_execute_command;
const context = { workspace, requestContext: new Map() };
const answer = await shell.execute({ command: 'echo from the tool; exit 3' }, context);
assert.match(JSON.stringify(answer), /from the tool/);
assert.match(JSON.stringify(answer), /3/);

const handle = await sandbox.processes.spawn('read -r line; echo "got $line"; sleep 600');
assert(handle instanceof base.ProcessHandle);
await handle.sendStdin('hello\\n');
while (!handle.stdout.includes('got hello')) await new Promise((resolve) => setTimeout(resolve, 20));
const end = handle.wait();
assert.equal(await sandbox.processes.kill(handle.pid), true);
assert.equal((await end).exitCode, 143);
assert.deepEqual(await sandbox.processes.list(), []);
await sandbox.destroy();
console.log('Mastra works with it.');
`;

try {
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  run(
    'npm',
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '@mastra/core@^1.71.0',
    'zod@^4',
  );
  symlinkSync(root, join(directory, 'node_modules/forkline'));
  writeFileSync(join(directory, 'types.ts'), TYPES);
  writeFileSync(join(directory, 'work.mjs'), WORK);
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const target = [
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--lib',
    'es2024,esnext.disposable',
  ];
  const check = ['--noEmit', '--strict', '--skipLibCheck', ...target, ...types, 'types.ts'];
  run(join(root, 'node_modules/.bin/tsc'), ...check);
  run(process.execPath, 'work.mjs');
} finally {
  rmSync(directory, { recursive: true, force: true });
}
