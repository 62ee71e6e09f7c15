import { expect, test } from 'vitest';
import { CONTRACT_NAMES } from '../../src/index.js';
import { filesIn, read, typescript } from '../support/house.js';

/** The fields of an interface or type of options, by its name. */
function optionsOf(name: string): string[] {
  const declaration = new RegExp(
    `^(?:export )?(?:interface|type) ${name}\\b[^\\n]*\\{\\n(.*?)^\\}`,
    'ms',
  );
  const body = typescript.files.flatMap((file) => declaration.exec(read(file))?.[1] ?? []).join();
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, option = '']) => option);
}

/** What the first column of a page's tables names. */
function rowsOf(page: string): string[] {
  const cells = [...read(page).matchAll(/^\| ([^|]*)\|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
}

test.each([
  ['ExecuteOptions', 'docs/api.md'],
  ['EnvironmentOptions', 'docs/api.md'],
  ['SpawnOptions', 'docs/api.md'],
  ['DetachOptions', 'docs/tasks.md'],
  ['ShellOptions', 'docs/workspace.md'],
  ['ShellOptions', 'docs/session.md'],
  ['ShellOptions', 'docs/modes.md'],
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
  const options = optionsOf(name);
  expect(options).not.toEqual([]);
  const rows = rowsOf(page);
  expect(options.filter((option) => !rows.includes(option))).toEqual([]);
});

test('every contract has a page', () => {
  expect(filesIn('docs')).toEqual(
    expect.arrayContaining(CONTRACT_NAMES.map((name) => `docs/${name}.md`)),
  );
});
