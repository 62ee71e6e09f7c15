import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { type EntryPoint, PEERS, type Peer, takenBy } from '../../src/support/peers/table.js';
import { useFolder } from '../support/leftovers.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = useFolder();

// A copy: in the checkout itself each package is found.
beforeAll(() => {
  const installed = folder.file('node_modules/forkline');
  cpSync(join(root, 'dist'), join(installed, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
});

let projects = 0;

/**
 * A project with forkline and these packages: by the directory the version, and `of` the name if that is
 * another one.
 */
function projectWith(packages: Readonly<Record<string, string>>): string {
  projects += 1;
  const project = folder.file(`project-${projects}`);
  const own = join(project, 'node_modules/forkline');
  cpSync(folder.file('node_modules/forkline'), own, { recursive: true });
  for (const [directory, told] of Object.entries(packages)) {
    const [version = '', name = directory] = told.split(' of ');
    const path = join(project, 'node_modules', directory, 'package.json');
    mkdirSync(dirname(path), { recursive: true });
    // As most packages, it exports no package.json.
    writeFileSync(path, JSON.stringify({ name, version, exports: { '.': './index.js' } }));
  }
  return project;
}

/** What a program of a project prints that imports an entry point, or requires it. */
function loading(project: string, entry: EntryPoint, how = 'import', env: NodeJS.ProcessEnv = {}) {
  const told = `(error) => console.log(error.code + ': ' + error.message)`;
  const shown = `(module) => console.log(Object.keys(module).length > 0)`;
  const name = JSON.stringify(entry);
  const script =
    how === 'import'
      ? `import(${name}).then(${shown}, ${told})`
      : `try { (${shown})(require(${name})) } catch (error) { (${told})(error) }`;
  return printedBy(['-e', script], project, env);
}

function printedBy(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  const options = { cwd, env: { ...process.env, ...env } };
  return new Promise<string>((resolve) => {
    execFile(process.execPath, args, options, (_, stdout, stderr) =>
      resolve((stdout + stderr).trim()),
    );
  });
}

const entries = Object.entries(PEERS) as [EntryPoint, Peer][];

test.each(entries)('I2: %s says at its import which version it has found', async (entry, peer) => {
  const { name } = peer;
  const project = projectWith({ [name]: '0.0.9' });
  const said =
    `FORKLINE_PEER_VERSION: ${entry} takes ${name} ${takenBy(entry)}; ` +
    `found 0.0.9 in ${project}/node_modules/${name}`;
  expect(await loading(project, entry)).toBe(said);
  expect(await loading(project, entry, 'require')).toBe(said);
});

test.each(entries)(
  'I2: %s takes its lowest version, an early one of it, and any newer one',
  async (entry, { name, from }) => {
    for (const [version, how] of [
      [from, 'import'],
      [`${from}-beta.3`, 'require'],
      ['999.0.0', 'import'],
    ] as const) {
      expect(await loading(projectWith({ [name]: version }), entry, how), version).toBe('true');
    }
  },
);

test.each(entries)(
  'I2: %s without its package is imported, or names it and how to install it',
  async (entry, { name, isNeeded }) => {
    expect(await loading(projectWith({}), entry)).toBe(
      isNeeded
        ? `FORKLINE_PEER_MISSING: ${entry} needs ${name} ${takenBy(entry)}, which is not installed: npm install ${name}`
        : 'true',
    );
  },
);

test('I2: a package of the program itself, or one under another name, counts for what is not loaded', async () => {
  const nested = projectWith({ ai: '4.3.19' });
  expect(await loading(nested, 'forkline/ai-sdk')).toContain('FORKLINE_PEER_VERSION');
  const aliased = projectWith({ ai: '4.3.19', 'ai-new': '7.0.0 of ai' });
  expect(await loading(aliased, 'forkline/ai-sdk')).toBe('true');
  const other = projectWith({ ai: '4.3.19', 'ai-new': '7.0.0 of another' });
  expect(await loading(other, 'forkline/ai-sdk')).toContain('FORKLINE_PEER_VERSION');
  const inner = join(other, 'packages/agent');
  mkdirSync(join(inner, 'node_modules/ai'), { recursive: true });
  writeFileSync(join(inner, 'node_modules/ai/package.json'), '{"name":"ai","version":"6.1.0"}');
  expect(await loading(inner, 'forkline/ai-sdk')).toBe('true');
});

test('I2: FORKLINE_ANY_PEER takes any version', async () => {
  const project = projectWith({ ai: '4.3.19' });
  expect(await loading(project, 'forkline/ai-sdk', 'import', { FORKLINE_ANY_PEER: '1' })).toBe(
    'true',
  );
});

test('I2: toAgentTools() names a missing package, and how to install it', async () => {
  const script =
    `import { createBashTool } from 'forkline'; import { toAgentTools } from 'forkline/openai';` +
    `await toAgentTools(createBashTool({ contract: 'plain' })).catch(({ code }) => console.log(code));`;
  const printed = await printedBy(['--input-type=module', '-e', script], projectWith({}));
  expect(printed).toBe('FORKLINE_PEER_MISSING');
});

test('I2: optional peers are named without a range, and each package that is loaded is one', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // With any range npm resolves the peers of peers too, and refuses where those exclude each other.
  expect(manifest).not.toHaveProperty('peerDependencies');
  const { peerDependenciesMeta } = manifest;
  for (const meta of Object.values(peerDependenciesMeta)) expect(meta).toEqual({ optional: true });
  const loaded = entries.filter(([, { isNeeded }]) => isNeeded).map(([, { name }]) => name);
  expect(Object.keys(peerDependenciesMeta)).toEqual(expect.arrayContaining(loaded));
});
