import { expect, test } from 'vitest';
import {
  TOOL_FORMAT_NAMES,
  TOOL_FORMATS,
  type ToolFormat,
  toolsOf,
} from '../../src/adapters/index.js';
import { type BashToolOptions, CONTRACT_NAMES, createBashTool } from '../../src/index.js';
import { cli } from '../support/cli.js';

async function printedBy(...args: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await cli('schema', ...args);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout.toString());
}

async function expected(format: ToolFormat, options: Record<string, unknown>): Promise<object[]> {
  const tool = createBashTool({ cwd: process.cwd(), ...options } as BashToolOptions);
  await tool.dispose();
  return toolsOf(tool).map((each) => TOOL_FORMATS[format](each));
}

test.each(CONTRACT_NAMES)('%s: without a format, all of them by name', async (contract) => {
  const printed = await printedBy('--contract', contract);
  expect(Object.keys(printed as object)).toEqual(TOOL_FORMAT_NAMES);
  for (const format of TOOL_FORMAT_NAMES) {
    expect(printed).toHaveProperty(format, await expected(format, { contract }));
  }
});

test.each(TOOL_FORMAT_NAMES)('--format %s prints an array of tools', async (format) => {
  const printed = await printedBy('--contract', 'plain', '--format', format);
  expect(printed).toEqual(await expected(format, { contract: 'plain' }));
});

test('options of the contract show, and so do the companions that they bring', async () => {
  const options = { cwd: '/srv/project', async: true };
  const args = ['--contract', 'workspace', '--format', 'mcp', '--options', JSON.stringify(options)];
  const printed = await printedBy(...args);
  expect(printed).toEqual(await expected('mcp', { contract: 'workspace', ...options }));
  expect(printed).toMatchObject([
    { name: 'bash', description: expect.stringContaining('/srv/project') },
    { name: 'job' },
  ]);
});

test.each([
  [[], "required option '--contract <name>' not specified"],
  [['--contract', 'fancy'], `Allowed choices are ${CONTRACT_NAMES.join(', ')}.`],
  [['--contract', 'plain', '--format', 'xml'], 'Allowed choices are anthropic, openai,'],
  [['--contract', 'plain', '--options', '[]'], 'Expected a JSON object.'],
  [['--contract', 'plain', '--options', '{'], "option '--options <json>' argument '{' is invalid"],
  [
    ['--contract', 'plain', '--options', '{"timeout": "5"}'],
    'forkline: timeout: expected a number from 0.001, got "5"',
  ],
])('%j is wrong usage', async (args, message) => {
  const { code, stdout, stderr } = await cli('schema', ...args);
  expect(code).toBe(2);
  expect(stdout.toString()).toBe('');
  expect(stderr).toContain(message);
});
