import { expect, test } from 'vitest';
import { type Awaited, TaskManager, type Until } from '../../src/index.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();

const LISTEN = `exec '${process.execPath}' -e "require('net').createServer().listen(0, '127.0.0.1')"`;

/** Every field of a wait: a command, the field's value, and the event. A new field without a row does not compile. */
const FIELDS: {
  readonly [Name in keyof Until]-?: readonly [
    command: string,
    value: NonNullable<Until[Name]>,
    kind: Awaited['kind'],
  ];
} = {
  ended: ['true', true, 'ended'],
  gone: ['true', true, 'gone'],
  line: ['echo ready; exec sleep 30', 'ready', 'line'],
  port: [LISTEN, true, 'listening'],
  silentMs: ['exec sleep 30', 100, 'silent'],
  atMostMs: ['exec sleep 30', 100, 'time'],
};

test.each(Object.entries(FIELDS))(
  'a wait for %s ends by it',
  async (name, [command, value, kind]) => {
    const task = await new TaskManager().start(command, { timeoutMs: 10_000, graceMs: 0 });
    try {
      expect(await task.wait({ [name]: value })).toMatchObject({ kind });
    } finally {
      await task.stop({ graceMs: 0 });
    }
  },
);

test.each([...Object.keys(FIELDS), 'until'])('a wrong %s is refused by its name', async (name) => {
  const task = await new TaskManager().start('exec sleep 30', { graceMs: 0 });
  try {
    const until = (name === 'until' ? 5 : { [name]: {} }) as Until;
    const field = name === 'until' ? name : `until.${name}`;
    await expect(task.wait(until)).rejects.toThrow(new RegExp(`^${field}: expected`));
  } finally {
    await task.stop({ graceMs: 0 });
  }
});
