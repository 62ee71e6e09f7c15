import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createBashTool,
  createLocalResolver,
  createUrlRegistry,
  unknownId,
  type WorkspaceOptions,
} from '../../../../src/index.js';
import { failureOf } from '../../../support/results.js';
import { answerTo } from '../../../support/tool.js';

let workspace = '';
let root = '';
beforeAll(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'forkline-urls-')));
  root = join(workspace, 'agent files');
  mkdirSync(join(root, 'dir'), { recursive: true });
  writeFileSync(join(root, 'plan'), 'the plan\n');
});
afterAll(() => rmSync(workspace, { recursive: true }));

function makeTool(options: Partial<WorkspaceOptions> = {}) {
  const urls = createUrlRegistry({
    local: createLocalResolver({ root }),
    skill: {
      resolve(url) {
        throw unknownId('skill', url.slice('skill://'.length), ['review', 'test']);
      },
    },
  });
  return createBashTool({ contract: 'workspace', cwd: workspace, urls, ...options });
}

test('a command reads and writes files by their URLs, wherever these stand', async () => {
  const tool = makeTool();
  const command = `cat local://plan "local://plan"; wc -l <local:/plan; echo "$(cat 'local://plan')"`;
  expect(await answerTo(tool, { command })).toMatch(/^(the plan\n){2}1\nthe plan\n/);
  await tool.execute({ command: 'date > local://new/deep/a%20b.txt' });
  expect(existsSync(join(root, 'new/deep/a b.txt'))).toBe(true);
});

test('a variable and the directory get the path as it is', async () => {
  const tool = makeTool();
  const env = { FILE: 'local://plan', TEXT: 'see local://plan' };
  const command = 'echo "$FILE $TEXT"; pwd';
  expect(await answerTo(tool, { command, env, cwd: 'local://dir' })).toMatch(
    `${root}/plan see local://plan\n${root}/dir\n`,
  );
  expect(await answerTo(tool, { command: 'cd local://dir && pwd' })).toMatch(`${root}/dir\n`);
});

test('a text that is no internal URL, or only mentions one, stays', async () => {
  const command = `printf '%s\n' https://x.y/local://z s3://b/k file:///x "see local://plan"; cat <<EOF
local://plan
EOF`;
  expect(await answerTo(makeTool(), { command })).toMatch(
    /^https:\/\/x\.y\/local:\/\/z\ns3:\/\/b\/k\nfile:\/\/\/x\nsee local:\/\/plan\nlocal:\/\/plan\n/,
  );
});

test.each([
  [
    'plan://x',
    'Unsupported internal URL in bash command: plan://x\n' +
      'There is no resolver for plan:// here. Supported: local://, skill://, artifact://.',
  ],
  [
    'skill://x',
    'Cannot resolve skill:// URL in bash command: skill://x\n' +
      'Unknown skill: x. Available: review, test.',
  ],
  [
    'local://../x',
    'Cannot resolve local:// URL in bash command: local://../x\nThe path leads out of local://.',
  ],
])(
  'B21: %s is an error in a command, a variable and the directory, by the field',
  async (url, message) => {
    const tool = makeTool();
    const fields = ['bash command', 'env.FILE', 'cwd'];
    for (const [index, input] of [
      { command: `touch ran; cat ${url}` },
      { command: 'touch ran', env: { FILE: url } },
      { command: 'touch ran', cwd: url },
      { command: `cd ${url} && touch ran` },
    ].entries()) {
      expect(await failureOf(tool.execute(input))).toMatchObject({
        name: 'ToolError',
        kind: 'input',
        message: message.replace('bash command', fields[index] ?? 'cwd'),
      });
    }
    expect(existsSync(join(workspace, 'ran'))).toBe(false);
  },
);

test('without resolvers there are errors for the schemes that cannot be anything else', async () => {
  const tool = createBashTool({ contract: 'workspace', cwd: workspace, artifacts: false });
  expect(await failureOf(tool.execute({ command: 'cat artifact://1' }))).toMatchObject({
    message:
      'Unsupported internal URL in bash command: artifact://1\n' +
      'There is no resolver for artifact:// here. No scheme has one.',
  });
  expect(await answerTo(tool, { command: 'echo other://x' })).toMatch(/^other:\/\/x\n/);
});

test('the interceptor sees URLs, not paths', async () => {
  const rules = [{ pattern: '^cat local://plan$', tool: 'read', message: 'No.' }];
  const tools = { read: { urls: true } };
  const tool = makeTool({ interceptor: { enabled: true, tools, rules } });
  expect(await failureOf(tool.execute({ command: 'cat local://plan' }))).toMatchObject({
    kind: 'blocked',
    message: 'Blocked: No.\n\nOriginal command: cat local://plan',
  });
});

test('a directory that is not there is told by its path', async () => {
  const error = await failureOf(makeTool().execute({ command: 'ls', cwd: 'local://missing' }));
  expect(error).toMatchObject({ message: `Working directory does not exist: ${root}/missing` });
});

test('the description names the schemes that there are at the time', () => {
  const urls = createUrlRegistry();
  const tool = makeTool({ urls });
  expect(tool.description).not.toContain('URLs');
  const unregister = urls.register('plan', { resolve: () => ({ path: root }) });
  expect(tool.description).toContain('URLs of these kinds become paths: `plan://`, `artifact://`.');
  unregister();
  expect(tool.description).not.toContain('URLs');
});
