import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { attach, type DetachedTask, detach, type OnExec } from '../../../src/index.js';
import { useTasks } from '../../support/detached-tasks.js';
import { ASK_ENV, useAsking } from '../../support/exec.js';
import { startHost } from '../../support/hosts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { failureOf } from '../../support/results.js';

leavesNothingBehind(16);
const tasks = useTasks();
const asking = useAsking();

const textOf = (task: DetachedTask): string => readFileSync(task.outputFile ?? '', 'utf8');
const receiptOf = ({ subject }: DetachedTask) =>
  'receipt' in subject.state ? subject.state.receipt : undefined;

test('each asks whoever has started it, at its start too', async () => {
  const options = asking({
    rules: [ASK_ENV, { program: 'bash', argv: [/^env echo/], answer: 'ask' }],
  });
  const started = ['one', 'two'].map(async (name) => {
    const onExec = vi.fn<OnExec>(({ argv }) => (argv.at(-1) === name ? 'allow' : 'deny'));
    const task = await detach(`env echo asked ${name}; echo over`, {
      ...options,
      onExec: (request) => (request.argv[0] === 'env' ? onExec(request) : 'allow'),
    });
    tasks.note(task.id);
    await task.wait({ ended: true });
    expect(onExec).toHaveBeenCalledOnce();
    return textOf(task);
  });
  expect(await Promise.all(started)).toEqual(['asked one\nover\n', 'asked two\nover\n']);
});

test('their programs are in the receipt, however many they are', async () => {
  const exec = { record: true, rules: [{ program: 'env', answer: 'deny' }] } as const;
  const text = 'for i in $(seq 30); do /bin/echo $i; done >/dev/null; env echo asked';
  const task = await detach(text, { ...asking(), sandbox: { mode: 'workspace-write', exec } });
  tasks.note(task.id);
  await task.wait({ ended: true });
  const here = receiptOf(task);
  const echoed = here?.executed?.filter(({ argv }) => argv[0] === '/bin/echo') ?? [];
  expect(echoed.map(({ argv }) => Number(argv[1]))).toEqual(
    [...Array(30).keys()].map((n) => n + 1),
  );
  expect(here?.sandbox).not.toHaveProperty('executed');
  expect(here?.sandbox?.denials).toMatchObject([{ kind: 'exec', target: 'env echo asked' }]);
  const other = await attach(task.id);
  expect(receiptOf(other)?.executed).toEqual(here?.executed);
});

test('once the host is gone, what is to be asked is denied', async () => {
  const host = startHost('asked-task', { args: [asking().cwd] });
  const told = [await host.next<{ id?: string }>(), await host.next<{ id?: string }>()];
  const id = tasks.note(told.find((one) => one.id !== undefined)?.id ?? '');
  host.child.kill('SIGKILL');
  await host.ended;
  const task = await attach(id);
  await task.wait({ ended: true });
  expect(textOf(task)).toMatch(/env: Permission denied\nafter\n$/);
  expect(receiptOf(task)?.executed).toMatchObject([{ decision: 'deny', why: 'unasked' }]);
});

test('once its worker thread has ended, what it was asked is denied', async () => {
  const host = startHost('asked-worker', { args: [asking().cwd] });
  const { id } = await host.next<{ id: string }>();
  const task = await attach(tasks.note(id));
  expect(await task.wait({ ended: true, atMostMs: 20_000 })).toMatchObject({ kind: 'ended' });
  expect(receiptOf(task)?.executed).toMatchObject([{ decision: 'deny', why: 'unasked' }]);
  host.child.kill('SIGKILL');
  await host.ended;
});

test('a start that a rule denies says so', async () => {
  const rules = [{ program: 'bash', answer: 'deny', say: 'no shells' }] as const;
  expect(await failureOf(detach('true', asking({ rules })))).toMatchObject({
    code: 'EACCES',
    message: expect.stringContaining('the rules of its sandbox deny it: no shells'),
  });
});
