import { describe, expect, test } from 'vitest';
import {
  createBashTool,
  createLocalResolver,
  createUrlRegistry,
  ToolError,
  type WorkspaceOptions,
} from '../../src/index.js';
import { useDisposal } from '../support/disposal.js';
import { read } from '../support/house.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { failureOf } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

const page = read('docs/workspace.md');

/** The rows of the first table below a heading, cell by cell. */
function tableBelow(heading: string): string[][] {
  const [, text = ''] = page.split(`\n${heading}\n`);
  const [, table = ''] = /\n((?:\|.*\n)+)/.exec(text) ?? [];
  return table
    .split('\n')
    .slice(2, -1)
    .map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|')));
}

/** The error that a call has to throw. */
async function errorOf(call: Promise<unknown>): Promise<ToolError> {
  const error = await failureOf(call);
  if (error instanceof ToolError) return error;
  throw error;
}

const makeTool = (options: Partial<WorkspaceOptions> = {}) =>
  keep(createBashTool({ contract: 'workspace', cwd: folder.path, ...options }));

describe('G9: the table of errors in docs/workspace.md has what is thrown', () => {
  const documented = tableBelow('## Errors').map(([, kind, message = '']) => ({ kind, message }));

  test.each<[input: unknown, options?: Partial<WorkspaceOptions>]>([
    [{ command: 'true', timeout: '5' }],
    [{ command: ' ' }],
    [{ command: 'echo \0' }],
    [{ command: 'true', env: { 'A-B': 'x' } }],
    [{ command: 'true', cwd: 'x' }],
    [{ command: 'true', cwd: '/dev/null' }],
    [{ command: 'true', async: true }],
    [
      { command: 'true', async: true },
      { async: true, tasks: false },
    ],
    [{ command: 'cat skill://x' }],
    [{ command: 'sleep 30', timeout: 1 }],
    [{ command: 'kill -KILL $$' }],
    [{ command: 'true' }, { shell: ['/nope'] }],
  ])('for %j', async (input, options) => {
    const { kind, message } = await errorOf(makeTool(options).execute(input as never));
    const line = message.split('\n').find((each) => each !== '' && !/^Wall time/.test(each)) ?? '';
    const said = line
      .replace(folder.path, '/srv/project')
      .replace('/dev/null', '/srv/project/file')
      .replace('after 1 second', 'after 5 seconds')
      .replace(/ Leave `async`.*/, ' …')
      .replace(/(Command could not be started:) .*/, '$1 …');
    expect(documented.filter((row) => row.message.includes(said))).toMatchObject([
      { kind: `\`${kind}\`` },
    ]);
  });

  test('for a URL that leads out, and after the end', async () => {
    const urls = createUrlRegistry({ local: createLocalResolver({ root: folder.path }) });
    const tool = makeTool({ urls });
    const { message } = await errorOf(tool.execute({ command: 'cat local://../x' }));
    expect(page).toContain(`\`${message.split('\n')[0]}\``);
    await tool.dispose();
    const ended = await errorOf(tool.execute({ command: 'true' }));
    expect(page).toContain(`| \`disposed\` | \`${ended.message}\``);
  });
});

describe('G9: the table of default rules in docs/workspace.md is true', () => {
  const tools = ['read', 'search', 'find', 'edit', 'write'];
  const intercepting = () => makeTool({ interceptor: { enabled: true, tools } });

  test('has a row for each tool', () => {
    const [, table = ''] = page.split('The default rules, and what they let through');
    const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, tool]) => tool);
    expect(rows).toEqual(tools);
  });

  test.each([
    ...['cat f', 'head f', 'tail f', 'less f', 'more f', 'grep x f', 'egrep x f', 'fgrep x f'],
    ...['rg x', 'ripgrep x', 'ag x', 'ack x', 'find . -name x', 'find . -type f', 'fd -e ts'],
    ...['locate --regex x', 'sed -i s/a/b/ f', 'perl -i -pe 1 f', 'awk -i inplace 1 f'],
    ...['echo hi > f', 'printf hi > f', 'cat > f <<EOF\nx\nEOF', 'tee f <<EOF\nx\nEOF'],
    ...['echo hi | tee f', '{ cat f; }', 'if true; then cat f; fi', 'case x in x) cat f;; esac'],
  ])('%s is blocked', async (command) => {
    expect((await errorOf(intercepting().execute({ command }))).kind).toBe('blocked');
  });

  test.each([
    ...['cat a b > c', 'cat x | jq .', 'cat <<EOF\nhi\nEOF', 'cat /dev/null', 'git grep x'],
    ...['true | grep x', 'grep -q x f', 'grep -c x f', 'fd x', 'locate x', 'sed s/a/b/ f'],
    ...['find . -exec true {} +', 'find . -name nope -delete', 'find . -print0'],
    ...['find . -mtime 1', 'find . -size 1', 'true 2>&1', 'echo hi >/dev/null', 'echo $HOME > f'],
    ...['if cat f; then :; fi', 'for i in 1; do cat f; done', 'echo $(cat f)', 'echo `cat f`'],
  ])('%s is let through', async (command) => {
    const { details } = await intercepting().execute({ command });
    expect(details.wallTimeMs).toBeGreaterThan(0);
  });
});
