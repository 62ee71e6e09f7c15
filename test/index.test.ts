import { execFileSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import * as forkline from '../src/index.js';

test('the package exports this and nothing else', () => {
  expect(Object.keys(forkline).sort()).toEqual([
    'ArtifactError',
    'CONTRACT_NAMES',
    'DEFAULT_INTERCEPTOR_RULES',
    'DEFAULT_OUTPUT_FILTERS',
    'InputError',
    'LaunchError',
    'SECRET_NAME_PATTERNS',
    'TaskLimitError',
    'TaskManager',
    'ToolAbortError',
    'ToolError',
    'UnknownTaskError',
    'acceptChanges',
    'ansiRow',
    'artifactResolver',
    'attach',
    'createArtifactStore',
    'createBashTool',
    'createInteractionLog',
    'createLineFilter',
    'createLocalResolver',
    'createOwner',
    'createTtyUi',
    'createUrlRegistry',
    'describeExec',
    'detach',
    'dropHeld',
    'exitCodeOf',
    'explainErrorLine',
    'exportedFunctions',
    'findChanges',
    'heldBack',
    'incompleteNotice',
    'isErrorLine',
    'listChanges',
    'listTasks',
    'receiptOf',
    'revertChanges',
    'run',
    'runInConsole',
    'sandboxNotices',
    'shellQuote',
    'spawn',
    'textOf',
    'unknownId',
  ]);
});

test('forkline/mcp exports this and nothing else', async () => {
  const mcp = await import('../src/mcp/index.js');
  expect(Object.keys(mcp).sort()).toEqual([
    'askClient',
    'createMcpServer',
    'openCallLog',
    'serveHttp',
    'serveStdio',
  ]);
});

test('importing it loads neither the addon nor a library', () => {
  const entry = fileURLToPath(new URL('../dist/index.js', import.meta.url));
  const hook = `export const resolve = (name, context, next) => {
    const own = /^(node:|data:|file:|[.][.]?[/])/.test(name);
    if (!own) throw new Error(name + ' was asked for');
    return next(name, context);
  };`;
  const script = `
    import { createRequire, register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}));
    await import(${JSON.stringify(pathToFileURL(entry).href)});
    const { cache } = createRequire(${JSON.stringify(entry)});
    console.log(JSON.stringify(Object.keys(cache)));`;
  const args = ['--input-type=module', '-e', script];
  const loaded: string[] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  const own = fileURLToPath(new URL('../dist/', import.meta.url));
  expect(loaded.map((path) => path.replace(own, '')).sort()).toEqual([
    'chunks/core.cjs',
    'index.cjs',
  ]);
});
