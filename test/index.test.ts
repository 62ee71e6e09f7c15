import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as forkline from '../src/index.js';

test('the package exports this and nothing else', () => {
  expect(Object.keys(forkline).sort()).toEqual([
    'ArtifactError',
    'CONTRACT_NAMES',
    'DEFAULT_INTERCEPTOR_RULES',
    'DEFAULT_OUTPUT_FILTERS',
    'InputError',
    'JobManager',
    'LaunchError',
    'SECRET_NAME_PATTERNS',
    'ToolAbortError',
    'ToolError',
    'artifactResolver',
    'createArtifactStore',
    'createBashTool',
    'createLineFilter',
    'createLocalResolver',
    'createOwner',
    'createUrlRegistry',
    'isErrorLine',
    'run',
    'spawn',
    'unknownId',
  ]);
});

test('importing it loads neither the addon nor a library', () => {
  const entry = fileURLToPath(new URL('../dist/index.js', import.meta.url));
  const script = `import(${JSON.stringify(entry)}).then(() => {
    console.log(JSON.stringify(Object.keys(require.cache)));
  });`;
  const loaded = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  expect(JSON.parse(loaded)).toEqual([]);
});
