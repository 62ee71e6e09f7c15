import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CONTRACT_NAMES, type ContractName, createBashTool, InputError } from '../../src/index.js';
import { useDisposal } from '../support/disposal.js';
import { useFolder } from '../support/leftovers.js';
import { textOf } from '../support/tool.js';

const folder = useFolder();
const keep = useDisposal();
const make = <Name extends ContractName>(contract: Name, encoding: string) =>
  keep(createBashTool({ contract, cwd: folder.path, encoding }));

test.each(CONTRACT_NAMES)('B20: %s reads what commands print in its encoding', async (contract) => {
  const heard: string[] = [];
  const answer = await make(contract, 'gbk').execute(
    { command: "printf '\\xc4\\xe3\\xba\\xc3, 1\\n'" },
    { onOutput: ({ text }) => heard.push(text) },
  );
  expect(textOf(answer)).toContain('你好, 1');
  expect(textOf(answer)).not.toContain('valid text');
  expect(heard.join('')).toBe('你好, 1\n');
});

test.each(CONTRACT_NAMES)('B20: %s refuses an encoding that there is not', (contract) => {
  expect(() => make(contract, 'klingon')).toThrow(InputError);
  expect(() => make(contract, 'klingon')).toThrow(
    'encoding: expected the label of an encoding, such as gbk, shift_jis or utf-16le, got "klingon"',
  );
});

test.each(['workspace', 'modes'] as const)(
  'B20: output that is longer as text than as bytes is kept by %s',
  async (contract) => {
    // As text half as long again: over the limit, as which it is shown.
    const [bytes] = contract === 'workspace' ? [40_000] : [100_000];
    writeFileSync(folder.file('data'), Buffer.from('c4e3'.repeat(bytes / 2), 'hex'));
    const tool = make(contract, 'gbk');
    const text = textOf(await tool.execute({ command: 'cat data' }));
    const [, place = ''] = /(artifact:\/\/\d+|\/\S+\.log)/.exec(text) ?? [];
    await tool.execute({ command: `cp ${place} copy` });
    expect(readFileSync(folder.file('copy')).equals(readFileSync(folder.file('data')))).toBe(true);
    expect(textOf(await tool.execute({ command: `head -c 4 ${place}` }))).toMatch(/^你你/);
  },
);

test('B20: a task of a session is read in its encoding while it runs, and at its end', async () => {
  const session = make('session', 'gbk');
  const command = "printf '\\xc4\\xe3\\n'; sleep 0.5; printf '\\xba\\xc3\\n'";
  const { details } = await session.execute({ command, run_in_background: true });
  const ask = async () =>
    (await session.taskOutput.execute({ task_id: details.task?.id })).structured;
  await expect.poll(ask).toMatchObject({ status: 'running', stdout: '你\n' });
  await expect.poll(ask).toMatchObject({ status: 'completed', stdout: '你\n好\n' });
});
