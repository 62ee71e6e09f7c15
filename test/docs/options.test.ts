import { expect, test } from 'vitest';
import { CONTRACT_NAMES } from '../../src/index.js';
import { namesOf, type RoadName } from '../../src/options/roads.js';
import { FIELDS_OF_NO_OPTION } from '../../src/options/table.js';
import { filesIn, read, typescript } from '../support/house.js';
import { farTreatments, optionRows, roadRows, withTable } from './road-rows.js';

/** The fields of an interface or type of options, by its name. */
function optionsOf(name: string): string[] {
  const declaration = new RegExp(
    `^(?:export )?(?:interface|type) ${name}\\b[^\\n]*\\{\\n(.*?)^\\}`,
    'ms',
  );
  const body = typescript.files.flatMap((file) => declaration.exec(read(file))?.[1] ?? []).join();
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, option = '']) => option);
}

/** The roads whose options are in these types besides. */
const ROADS_OF: Readonly<Record<string, RoadName>> = {
  ShellOptions: 'tool',
  DetachOptions: 'detach',
};

/** What the first column of a page's tables names. */
function rowsOf(page: string): string[] {
  const cells = [...read(page).matchAll(/^\| ([^|]*)\|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name));
}

test.each([
  ['SpawnOptions', 'docs/api.md'],
  ['DetachOptions', 'docs/tasks.md'],
  ['ShellOptions', 'docs/workspace.md'],
  ['ShellOptions', 'docs/session.md'],
  ['ShellOptions', 'docs/modes.md'],
  ['ShellOptions', 'docs/plain.md'],
  ['WorkspaceOptions', 'docs/workspace.md'],
  ['ArtifactStoreOptions', 'docs/workspace.md'],
  ['TaskManagerOptions', 'docs/tasks.md'],
  ['TaskOptions', 'docs/tasks.md'],
  ['Until', 'docs/tasks.md'],
  ['ClientTerminalOptions', 'docs/workspace.md'],
  ['ShellSnapshotOptions', 'docs/workspace.md'],
  ['MinimizerOptions', 'docs/workspace.md'],
  ['InterceptorOptions', 'docs/workspace.md'],
  ['SessionOptions', 'docs/session.md'],
  ['ModesOptions', 'docs/modes.md'],
  ['PlainOptions', 'docs/plain.md'],
  ['InteractionLogOptions', 'docs/plain.md'],
  ['McpOptions', 'docs/mcp.md'],
  ['HttpOptions', 'docs/mcp.md'],
  ['StdioOptions', 'docs/mcp.md'],
  ['ConnectOptions', 'docs/remote.md'],
  ['ServeOptions', 'docs/remote.md'],
  ['ServeStreamOptions', 'docs/remote.md'],
  ['FleetOptions', 'docs/fleet.md'],
  ['BrokerOptions', 'docs/fleet.md'],
  ['WorkerOptions', 'docs/fleet.md'],
])('every option of %s has its row in %s', (name, page) => {
  const own = optionsOf(name).filter((option) => !(page === 'docs/plain.md' && option === 'ci'));
  const road = ROADS_OF[name];
  const options = [...own, ...(road === undefined ? [] : Object.keys(namesOf(road)))];
  expect(options).not.toEqual([]);
  const rows = rowsOf(page);
  expect(options.filter((option) => !rows.includes(option))).toEqual([]);
});

test('every field of a sandbox policy has its row in docs/sandbox.md', () => {
  const files = optionsOf('SandboxFilesystem').map((name) => `filesystem.${name}`);
  const fields = optionsOf('SandboxPolicy').flatMap((name) =>
    name === 'filesystem' ? files : [name],
  );
  expect(files).not.toEqual([]);
  const rows = rowsOf('docs/sandbox.md');
  expect(fields.filter((field) => !rows.includes(field))).toEqual([]);
});

test('every field of the report on a sandbox is in the row of `sandbox` of docs/api.md', () => {
  const [, row = ''] = /^\| `sandbox` \| with a \[sandbox\](.*)$/m.exec(read('docs/api.md')) ?? [];
  const fields = optionsOf('SandboxReport');
  expect(fields).toContain('enforced');
  expect(fields.filter((field) => !row.includes(`\`${field}\``))).toEqual([]);
});

test('every option that the local machine has of a command has its row in docs/frameworks-sandboxes.md', () => {
  const options = Object.keys(namesOf('localMachine'));
  const rows = rowsOf('docs/frameworks-sandboxes.md');
  expect(options.filter((option) => !rows.includes(option))).toEqual([]);
});

// `npx vitest run test/docs/options.test.ts -u` writes what they compare.
test('docs/api.md has the options as the table has them', async () => {
  const page = withTable(read('docs/api.md'), '| option | default | |', optionRows());
  await expect(page).toMatchFileSnapshot('../../docs/api.md');
});

test('docs/options.md says what each road does with each option', async () => {
  const page = withTable(read('docs/options.md'), '| option |', roadRows());
  await expect(page).toMatchFileSnapshot('../../docs/options.md');
});

test('the far side without Node is told what the table says of it', async () => {
  await expect(farTreatments()).toMatchFileSnapshot('../../native/far/options.json');
});

test('every field of the engine comes from an option, or is said to come from none', () => {
  expect(Object.keys(FIELDS_OF_NO_OPTION)).toEqual(['text', 'argv', 'pause']);
});

test('every contract has a page', () => {
  expect(filesIn('docs')).toEqual(
    expect.arrayContaining(CONTRACT_NAMES.map((name) => `docs/${name}.md`)),
  );
});
