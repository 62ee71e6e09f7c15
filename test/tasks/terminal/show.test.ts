import { expect, test } from 'vitest';
import { detach, type ShowOptions, spawn } from '../../../src/index.js';
import { quote } from '../../support/commands.js';
import { useTasks } from '../../support/detached-tasks.js';
import { root } from '../../support/house.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { textUntil } from '../../support/streams.js';

leavesNothingBehind();
const tasks = useTasks();

/** Runs a program on a terminal whose settings are compared before and after; `task` is the task. */
async function hostThat(id: string, text: string) {
  const module = `
    import { attach } from ${JSON.stringify(`${root}/dist/index.js`)};
    const task = await attach(${JSON.stringify(id)});
    const [input, output] = [process.stdin, process.stdout];
    ${text}`;
  const words = [process.execPath, '--input-type=module', '-e', module].map(quote);
  return spawn(
    `a=$(stty -g); ${words.join(' ')} 2>&1; rc=$?; test "$a" = "$(stty -g)" && echo "restored, $rc"`,
    { pty: { columns: 80, rows: 24 } },
  );
}

async function running(): Promise<string> {
  const task = await detach('printf "\\033[?1049h\\033[?25lon"; read -r x', { pty: true });
  return tasks.note(task.id);
}

test.each([
  [
    'that crashes',
    'setTimeout(() => { throw new Error("crashed"); }, 500); await task.showOn({ input, output });',
    1,
  ],
  [
    'that exits',
    'setTimeout(() => process.exit(7), 500); await task.showOn({ input, output });',
    7,
  ],
  [
    'that aborts',
    'console.log(await task.showOn({ input, output, signal: AbortSignal.timeout(500) }));',
    0,
  ],
])('a host %s gives the terminal back', async (_, text, code) => {
  const live = await hostThat(await running(), text);
  const shown = await textUntil(live, 'restored');
  expect(shown).toContain('\x1b[?1049hm'.slice(0, -1));
  const after = shown.slice(shown.lastIndexOf('\x1b[?1049h'));
  expect(after).toContain('\x1b[?25h');
  expect(after).toContain('\x1b[?1049l');
  expect(after).toContain(`restored, ${code}`);
  await live.result;
});

test('why it is over is told, and the process can end', async () => {
  const text = 'console.log(await task.showOn({ input, output, detachKeys: "ctrl-a,d" }));';
  const id = await running();
  const live = await hostThat(id, text);
  await textUntil(live, 'on');
  await live.write('\x01d');
  expect(await textUntil(live, 'restored')).toContain('detached');
  await live.result;
  const ends = await hostThat(id, text);
  await textUntil(ends, 'on');
  await ends.write('\r');
  expect(await textUntil(ends, 'restored')).toContain('ended');
  await ends.result;
});

test('options that are wrong are refused by name', async () => {
  const task = await detach('read -r x', { pty: true });
  tasks.note(task.id);
  const { stdin: input, stdout: output } = process;
  const show = (given: object) => task.showOn(given as ShowOptions);
  await expect(show({})).rejects.toThrow(/input: expected a terminal/);
  await expect(show({ input: { isTTY: true } })).rejects.toThrow(/output: expected a terminal/);
  await expect(show({ input, output, other: 1 })).rejects.toThrow(/other/);
  const tty = { isTTY: true };
  const given = { input: tty, output: tty };
  await expect(show({ ...given, detachKeys: 'f1' })).rejects.toThrow(/detachKeys: expected keys/);
  await expect(show({ ...given, signal: 1 })).rejects.toThrow(/signal: expected an AbortSignal/);
});
