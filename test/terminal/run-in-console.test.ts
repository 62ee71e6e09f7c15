import { expect, test } from 'vitest';
import { createTtyUi, runInConsole } from '../../src/index.js';
import { whileBusy } from '../support/busy-host.js';
import { FakeUi } from '../support/console.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { exited, failureOf } from '../support/results.js';

leavesNothingBehind();

test('runInConsole() resolves to the result, the output as text, and whether the user ended it', async () => {
  const ui = new FakeUi({ size: { columns: 50, rows: 10 } });
  const command = 'stty size; printf "\\e[1mbold\\e[0m\\n"; exit 3';
  const { result, text, dismissed } = await runInConsole(command, { ui, env: { A: '1' } });
  expect(result.outcome).toEqual(exited(3));
  expect(text).toBe('10 50\nbold\n');
  expect(dismissed).toBe(false);
});

test('long output has both ends as text, and a line for the part between them', async () => {
  const limits = { headBytes: 10, tailBytes: 20 };
  const { text } = await runInConsole('seq 1000', { ui: new FakeUi(), ...limits });
  expect(text).toMatch(/^1\n2\n3\n4\n\[… 4\.\dKB not kept …\]\n\d+\n999\n1000\n$/);
});

test('a value that is no UI, or streams that are no terminal, are input errors', async () => {
  const ui = {} as FakeUi;
  expect(await failureOf(runInConsole('true', { ui }))).toMatchObject({
    name: 'InputError',
    message: 'ui: expected a terminal UI with openConsole(), got {}',
  });
  const pipe = { isTTY: false } as unknown as NodeJS.ReadStream &
    NodeJS.WriteStream & { fd: number };
  expect(() => createTtyUi(pipe, pipe)).toThrow('input: expected a terminal, got something else');
});

test('a console closes when its command could not be started', async () => {
  const ui = new FakeUi();
  expect(await failureOf(runInConsole('true', { ui, cwd: '/no/such' }))).toMatchObject({
    name: 'LaunchError',
  });
  expect(ui.closed).toBe(1);
});

test('a fast command does not end before its last screen has been drawn', async () => {
  for (let count = 0; count < 20; count += 1) {
    const ui = new FakeUi();
    await runInConsole(`echo number ${count}`, { ui });
    expect(ui.screen).toBe(`number ${count}`);
  }
});

test('a host that is busy reads the lines that a command has printed, each whole (Q1)', async () => {
  const command = 'seq 100000 111999 | sed "s/.*/& is a line that is read/"';
  const options = { ui: new FakeUi(), headBytes: 1e6, tailBytes: 1e6 };
  const { text } = await whileBusy(40, () => runInConsole(command, options));
  const lines = Array.from(
    { length: 12_000 },
    (_, at) => `${100_000 + at} is a line that is read\n`,
  );
  expect(text).toBe(lines.join(''));
});
