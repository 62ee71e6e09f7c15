import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { strictSchema } from '../../src/adapters/openai-strict.js';
import { type BashTool, CONTRACT_NAMES, createBashTool } from '../../src/index.js';
import { useDisposal } from '../support/disposal.js';
import { read, root } from '../support/house.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();
const keep = useDisposal();

const rows = [...read('docs/choosing.md').matchAll(/^\|(.*)\|$/gm)].map(([, row = '']) =>
  row.split('|').map((cell) => cell.trim()),
);
const names = rows[0]?.map((cell) => /\[(\w+)\]/.exec(cell)?.[1]) ?? [];

/** What the table says of a contract. */
const cell = (title: string, contract: string): string =>
  rows.find(([first]) => first === title)?.[names.indexOf(contract)] ?? '';

test('the picture is what its script draws', () => {
  const drawn = execFileSync(process.execPath, ['scripts/choosing.mjs'], { cwd: root });
  expect(read('docs/choosing.svg')).toBe(drawn.toString());
  for (const name of CONTRACT_NAMES) expect(drawn.toString()).toContain(`>${name}<`);
});

test('the table has all contracts', () => {
  expect(names.filter(Boolean).sort()).toEqual([...CONTRACT_NAMES].sort());
});

describe.each(CONTRACT_NAMES)('what the table says of %s', (contract) => {
  const tool: BashTool = createBashTool({ contract, cwd: '/' });

  test('is so of its fields, its errors, its calls and its results', async () => {
    keep(tool);
    const fields = cell('the model gives', contract);
    for (const name of Object.keys(tool.inputSchema.properties)) {
      expect(fields).toContain(`\`${name}\``);
    }
    const { isError } = await tool.answer({ command: 'exit 3' });
    expect(cell('an exit code other than 0', contract)).toBe(
      isError ? 'an error' : 'part of the answer',
    );
    const calls = tool.concurrency === 'shared' ? 'side by side' : 'one after the other';
    expect(cell('calls at once', contract)).toMatch(new RegExp(`^${calls}`));
    expect(cell('result as data', contract) === 'yes').toBe(tool.outputSchema !== undefined);
    const strict = strictSchema(tool.inputSchema) !== undefined;
    expect(cell("OpenAI's strict mode", contract)).toMatch(strict ? /^yes$/ : /^no/);
  });
});
