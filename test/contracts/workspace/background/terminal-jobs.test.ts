import { afterEach, expect, test, vi } from 'vitest';
import type { ToolResult, WorkspaceDetails } from '../../../../src/index.js';
import { leavesNothingBehind } from '../../../support/leftovers.js';
import { eventually } from '../../../support/processes.js';
import { failureOf } from '../../../support/results.js';
import { useJobTools } from '../../../support/tasks.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();
const makeTool = useJobTools();

afterEach(() => {
  vi.unstubAllEnvs();
});

/** An answer about a job without its first line. */
const body = (answer: ToolResult<unknown>): string =>
  textOf(answer).split('\n').slice(2).join('\n');

const SHELL = 'PS1="ready> " exec bash --norc --noprofile -i';

test('T: a job on a terminal is typed into, and its screen is the answer', async () => {
  const { bash, job } = makeTool();
  const updates: string[] = [];
  const onUpdate = (update: ToolResult<Partial<WorkspaceDetails>>): void => {
    updates.push(textOf(update));
  };
  await bash.execute({ command: SHELL, async: true, pty: true }, { onUpdate });
  expect(body(await job({ poll: ['bg_1'], line: 'ready>' }))).toMatch(
    /^ready>\n\nIt has printed: /,
  );
  const typed = await job({ write: { id: 'bg_1', text: 'stty size; echo $TERM\n' } });
  expect(body(typed)).toMatch(
    /^ready> stty size; echo \$TERM\n40 120\nxterm-256color\nready>\n\nIt has printed nothing for .* terminal\.$/,
  );
  const resized = await job({ write: { id: 'bg_1', columns: 80, text: 'stty size\n' } });
  expect(body(resized)).toContain('\n40 80\nready>');
  // Updates show the screen, not the sequences that draw it.
  await eventually(() => expect(updates.at(-1)).toContain('\n40 80\nready>'));
  expect(updates.join('')).not.toContain('\x1b');
  expect(body(await job({ poll: ['bg_1'], seconds: 0 }))).toMatch(
    /^ready> stty size; echo \$TERM\n/,
  );
  const ended = await job({ write: { id: 'bg_1', keys: ['ctrl-d'] }, line: 'never' });
  expect(textOf(ended)).toMatch(/^Job bg_1 completed after .*\n\nready> .*exit\n\nWall time/s);
  await expect(job({ write: { id: 'bg_1', text: 'x' } })).resolves.toMatchObject({
    content: [{ text: expect.stringContaining('Its output was delivered before.') }],
  });
});

test('T: a job that asks for a password says so', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: 'read -rsp "Password: " x', async: true, pty: true });
  const asked = body(await job({ poll: ['bg_1'], silent: 0.3 }));
  expect(asked).toMatch(/^Password:\n\nIt has printed nothing for .* It asks for a password/);
});

test('T14: a pipe is closed by ctrl-d, and interrupted by ctrl-c', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: 'sort; echo sorted', async: true, stdin: true });
  const ended = await job({
    write: { id: 'bg_1', text: 'b\na\n', keys: ['ctrl-d'] },
    line: 'never',
  });
  expect(textOf(ended)).toContain('a\nb\nsorted\n');
  await bash.execute({
    command: 'trap "echo caught; exit" INT; while :; do sleep .1; done',
    async: true,
  });
  await job({ poll: ['bg_2'], seconds: 0.3 });
  const caught = await job({ write: { id: 'bg_2', keys: ['ctrl-c'] }, line: 'never' });
  expect(textOf(caught)).toContain('caught');
});

test('where terminals are off, a job has pipes, and that is said', async () => {
  vi.stubEnv('FORKLINE_NO_PTY', '1');
  const { bash, job } = makeTool();
  const started = await bash.execute({
    command: 'test -t 1 || echo piped',
    async: true,
    pty: true,
  });
  expect(textOf(started)).toContain('Run without a terminal (pty): FORKLINE_NO_PTY=1 is set.');
  expect(textOf(await job({ poll: ['bg_1'] }))).toContain('piped');
});

test('W17: a tool without async gives an advice that it can follow', async () => {
  const { bash, job } = makeTool({ async: false, autoBackground: { afterMs: 50 } });
  await bash.execute({ command: 'sleep 60' });
  expect(await failureOf(job({ write: { id: 'bg_1', text: 'x' } }))).toMatchObject({
    message:
      'bg_1: it has no stdin. End it, and give its command what it asks for as arguments, or by a pipe ' +
      '(`echo y | …`).',
  });
});

test('T: a job that has ended is not written to: its end is told, once', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: 'echo over', async: true });
  await bash.tasks?.settled();
  const write = { write: { id: 'bg_1', keys: ['up'] } };
  expect(textOf(await job(write))).toMatch(/^Job bg_1 completed after .*\n\nover\n/);
  expect(textOf(await job(write))).toContain('Its output was delivered before.');
});

test('the fields of a write are checked, and named', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: 'cat', async: true, pty: true });
  const write = (fields: object) => failureOf(job({ write: { id: 'bg_1', ...fields } }));
  expect(await write({ keys: ['enterr'] })).toMatchObject({
    message: expect.stringMatching(
      /^keys\[0\]: expected .*, got "enterr" \(did you mean "enter"\?\)/,
    ),
  });
  expect(await write({ keys: 'enter' })).toMatchObject({ kind: 'input' });
  expect(await write({ rows: 1000 })).toMatchObject({
    message: 'rows: expected a whole number from 5 to 200, got 1000',
  });
  expect(await write({ colums: 80 })).toMatchObject({
    message: expect.stringContaining('did you mean'),
  });
});
