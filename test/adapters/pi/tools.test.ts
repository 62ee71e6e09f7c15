import { expect, test } from 'vitest';
import { type PiToolResult, toPiTools } from '../../../src/adapters/pi/index.js';
import { createBashTool, ToolAbortError } from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
const makeTools = () =>
  toPiTools(keep(createBashTool({ contract: 'session', cwd: folder.path, graceMs: 500 })));

/** The tool itself, without its companions. */
function makeBash() {
  const [bash] = toPiTools(
    keep(createBashTool({ contract: 'workspace', cwd: folder.path, graceMs: 500 })),
  );
  if (bash === undefined) throw new Error('there is none');
  return bash;
}

test('a tool comes with its companions, each with the schema that it has', () => {
  expect(makeTools().map(({ name }) => name)).toEqual([
    'bash',
    'task_output',
    'write_task',
    'kill_task',
    'list_tasks',
  ]);
  expect(makeBash()).toMatchObject({ executionMode: 'sequential', parameters: { type: 'object' } });
});

test('a call returns its text and details, and updates with the output so far', async () => {
  const updates: PiToolResult[] = [];
  const { content, details } = await makeBash().execute(
    'call',
    { command: 'echo one; sleep 0.2; echo two' },
    undefined,
    (update) => updates.push(update),
  );
  expect(content).toMatchObject([{ type: 'text', text: expect.stringMatching(/^one\ntwo\n/) }]);
  expect(details).toMatchObject({ receipt: { outcome: { exitCode: 0 } } });
  expect(updates[0]?.content).toEqual([{ type: 'text', text: 'one\n' }]);
});

test('a failure and wrong input are thrown, as pi wants errors', async () => {
  const bash = makeBash();
  expect(await failureOf(bash.execute('call', { command: 'exit 3' }))).toMatchObject({
    message: expect.stringContaining('Command exited with code 3'),
  });
  expect(await failureOf(bash.execute('call', { command: 5 }))).toMatchObject({
    message: 'command: expected a string, got 5',
  });
});

test('an abort ends the command and is thrown', async () => {
  const controller = new AbortController();
  const input = { command: `${longSleep(93)}; true` };
  const running = failureOf(makeBash().execute('call', input, controller.signal));
  await eventually(() => expect(sleeping(93)).toHaveLength(1));
  controller.abort();
  expect(await running).toBeInstanceOf(ToolAbortError);
  expect(sleeping(93)).toEqual([]);
});
