import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBashTool, type WorkspaceOptions } from '../../../../src/index.js';
import { failureOf } from '../../../support/results.js';
import { answerTo } from '../../../support/tool.js';

let workspace = '';
beforeAll(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'forkline-intercept-')));
  mkdirSync(join(workspace, 'sub'));
});
afterAll(() => rmSync(workspace, { recursive: true }));

function makeTool(options: Partial<WorkspaceOptions> = {}) {
  return createBashTool({ contract: 'workspace', cwd: workspace, ...options });
}

const tools = ['read', 'write'];

test('a blocked command is told what to use, and nothing runs', async () => {
  const tool = makeTool({ interceptor: { enabled: true, tools } });
  const command = 'touch ran; echo hi > f';
  expect(await failureOf(tool.execute({ command }))).toMatchObject({
    name: 'ToolError',
    kind: 'blocked',
    message:
      'Blocked: Use the `write` tool to write files; the content needs no quoting there.\n\n' +
      'Original command: touch ran; echo hi > f',
    details: undefined,
  });
  expect(existsSync(join(workspace, 'ran'))).toBe(false);
});

test('a command after a leading cd is blocked, and shown as it was given', async () => {
  const tool = makeTool({ interceptor: { enabled: true, tools } });
  const error = await failureOf(tool.execute({ command: 'cd sub && cat x' }));
  expect(error).toMatchObject({
    message: expect.stringMatching(/^Blocked: .*\n\nOriginal command: cd sub && cat x$/),
  });
});

test('rules see the leading cd too', async () => {
  const rules = [{ pattern: '^cd\\b', tool: 'read', message: 'Use `cwd`.' }];
  const tool = makeTool({ interceptor: { enabled: true, tools, rules } });
  const error = await failureOf(tool.execute({ command: 'cd sub && pwd' }));
  expect(error).toMatchObject({
    message: 'Blocked: Use `cwd`.\n\nOriginal command: cd sub && pwd',
  });
});

test('the interceptor comes before the working directory is looked at, after the names of variables', async () => {
  const tool = makeTool({ interceptor: { enabled: true, tools } });
  const elsewhere = await failureOf(tool.execute({ command: 'cat x', cwd: 'missing' }));
  expect(elsewhere).toMatchObject({ kind: 'blocked' });
  const misnamed = await failureOf(tool.execute({ command: 'cat x', env: { 'A-B': '' } }));
  expect(misnamed).toMatchObject({ kind: 'input', message: 'Invalid bash env name: A-B' });
});

test('a command that a rule is not sure about runs', async () => {
  const tool = makeTool({ interceptor: { enabled: true, tools: [...tools, 'search'] } });
  expect(await answerTo(tool, { command: 'echo "cat x"' })).toMatch(/^cat x\n/);
  expect(await answerTo(tool, { command: 'printf x | grep x' })).toMatch(/^x\n/);
});

test('the interceptor is off unless it is switched on', async () => {
  const command = 'echo hi > f; cat f';
  expect(await answerTo(makeTool(), { command })).toMatch(/^hi\n/);
  expect(await answerTo(makeTool({ interceptor: { tools } }), { command })).toMatch(/^hi\n/);
});

test('a rule that cannot be used is reported to the logger, once, even if that throws', async () => {
  const warnings: string[] = [];
  const rules = [{ pattern: '(', tool: 'read', message: 'm' }];
  const logger = {
    warn(message: string) {
      warnings.push(message);
      throw new Error('full');
    },
  };
  const emitted: unknown[] = [];
  const listen = (warning: Error) => emitted.push(warning.message);
  process.on('warning', listen);
  const tool = makeTool({ interceptor: { enabled: true, tools, rules }, logger });
  await tool.execute({ command: 'true' });
  await tool.execute({ command: 'true' });
  process.off('warning', listen);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('the rule for "read" is skipped');
  expect(emitted).toEqual([expect.stringContaining('logger threw: Error: full')]);
});

test('options that make no sense are refused', () => {
  // @ts-expect-error: tools are missing.
  expect(() => makeTool({ interceptor: { enabled: true } })).toThrow(
    'interceptor.tools: expected an array of names, or an object with the abilities of each, got nothing',
  );
  // @ts-expect-error: a tool is no number.
  expect(() => makeTool({ interceptor: { enabled: true, tools: { read: 5 } } })).toThrow(
    'interceptor.tools.read: expected an object, got 5',
  );
  const misspelt = { write: { appends: true } } as object as { write: true };
  expect(() => makeTool({ interceptor: { enabled: true, tools: misspelt } })).toThrow(
    'interceptor.tools.write.appends: not known here, did you mean append?',
  );
  const odd = { read: { urls: 'yes' } } as object as { read: true };
  expect(() => makeTool({ interceptor: { enabled: true, tools: odd } })).toThrow(
    'interceptor.tools.read.urls: expected true or false, got "yes"',
  );
});
