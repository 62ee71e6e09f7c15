import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { attach, createBashTool, createOwner, type SessionOptions } from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useTasks } from '../../support/detached-tasks.js';
import { eventually } from '../../support/processes.js';
import { startTask } from '../../support/session.js';
import { textOf } from '../../support/tool.js';

const tasks = useTasks();

const newSession = (options: Partial<SessionOptions>) =>
  createBashTool({ contract: 'session', cwd: tasks.folder.path, graceMs: 500, ...options });

test('a task that may run as long as the host outlives its tool', async () => {
  const tool = newSession({ taskLifetime: 'host' });
  const id = await startTask(tool, `echo on; ${longSleep(7301)}`);
  const task = tool.tasks?.find(id);
  await tool.dispose();
  await eventually(() => expect(sleeping(7301)).toHaveLength(1));
  expect(task).toMatchObject({ state: 'running', lifetime: 'host' });
  expect(await task?.wait({ line: 'on' })).toMatchObject({ kind: 'line' });
  await task?.stop();
  expect(sleeping(7301)).toEqual([]);
});

test('one that is detached is followed by the tool, and found by its id when the tool is gone', async () => {
  const tool = newSession({ taskLifetime: 'detached', maxCharacters: 20 });
  const { structured } = await tool.execute({
    command: 'seq 10; read -r x; echo "got $x"; read -r y',
    run_in_background: true,
    stdin: true,
  });
  const id = tasks.note(String(structured?.task_id));
  await eventually(async () =>
    expect(textOf(await tool.taskOutput.execute({ task_id: id }))).toMatch(
      new RegExp(
        `^task_id: ${id}\nstatus: running\n\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n?$|\\[output truncated: it has 21 bytes`,
      ),
    ),
  );
  const said = await tool.writeTask.execute({ task_id: id, text: 'it\n', line: 'got it' });
  expect(textOf(said)).toContain('got it');
  await tool.dispose();
  const task = await attach(id);
  expect(task.state).toBe('running');
  await task.write('more\n');
  expect(await task.wait({})).toMatchObject({ kind: 'ended', running: 0 });
  expect(task.receipt?.outcome).toEqual({ kind: 'exited', exitCode: 0 });
});

test('a detached task is ended, returned and forgotten as any other', async () => {
  const tool = newSession({ taskLifetime: 'detached' });
  const id = tasks.note(await startTask(tool, `echo on; ${longSleep(7302)}`));
  await eventually(() => expect(sleeping(7302)).toHaveLength(1));
  expect(textOf(await tool.killTask.execute({ task_id: id }))).toMatch(
    new RegExp(`^task_id: ${id}\nstatus: killed\n\non\n`),
  );
  expect(sleeping(7302)).toEqual([]);
  expect(textOf(await tool.taskOutput.execute({ task_id: id }))).toMatch(
    /^Task not found: .* All of its output: \S+\/output$/,
  );
  await tool.dispose();
});

test('an owner of no lifetime is refused', () => {
  const lifetime = createOwner() as unknown as 'tool';
  expect(() => newSession({ taskLifetime: lifetime })).toThrow(/^taskLifetime: expected 'tool'/);
});

test('a command that outlives its host must not have limits that the host enforces', () => {
  const options = { taskLifetime: 'detached', limits: { cpuSeconds: 5 } } as const;
  expect(() => newSession(options)).toThrow(
    /^taskLifetime: expected 'tool' or 'host' beside limits/,
  );
});

test('a detached task whose output was put out of reach has its end, and says so', async () => {
  const events: string[] = [];
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const tool = newSession({
    taskLifetime: 'detached',
    tasks: { onEvent: ({ news }) => events.push(...news.map(({ kind }) => kind)) },
  });
  const id = tasks.note(await startTask(tool, `until [ -e replaced ]; do sleep .05; done; exit 5`));
  const task = await attach(id);
  const file = task.outputFile ?? '';
  rmSync(file);
  symlinkSync('/etc/hostname', file);
  writeFileSync(tasks.folder.file('replaced'), '');
  const ended = await eventually(async () => {
    const answer = await tool.taskOutput.execute({ task_id: id, seconds: 1 });
    expect(answer.details.status).toBe('completed');
    return answer;
  });
  expect(textOf(ended)).toContain("its output can't be read: ELOOP");
  expect(ended.structured).toMatchObject({ exit_code: 5 });
  warned.mockRestore();
  await tool.dispose();
});
