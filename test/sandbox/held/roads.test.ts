import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  CONTRACT_NAMES,
  createBashTool,
  type Held,
  heldBack,
  type Receipt,
  run,
  runInConsole,
  spawn,
  TaskManager,
} from '../../../src/index.js';
import { connect } from '../../../src/remote/index.js';
import { cli, program } from '../../support/cli.js';
import { FakeUi } from '../../support/console.js';
import { untilState, useTasks } from '../../support/detached-tasks.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { textOf } from '../../support/tool.js';

// What a sandbox holds back is told on every road by which a command can have one.
leavesNothingBehind(23);
const tasks = useTasks();
const folders = useFolders();
const keep = useDisposal();

const SET = 'git config core.fsmonitor ./watch 2>/dev/null; git config user.email a@b';
const LINE =
  'Held back, not in effect: .git/config (core.fsmonitor). The user can accept it. All else was written.';
const ROW = { reason: 'setting', keys: ['core.fsmonitor'] };
const sandbox = 'workspace-write';

/** Makes a repository. */
function repository(): string {
  const work = join(folders(), 'a repository');
  execFileSync('git', ['init', '-q', work], { stdio: 'ignore' });
  return work;
}

const config = (work: string): string => join(work, '.git/config');

/** Checks that only this is held of a repository, and that all else was written. */
function expectHeld(work: string, held: readonly Pick<Held, 'path'>[] | undefined): void {
  expect(held).toMatchObject([{ ...ROW, path: config(work) }]);
  const written = readFileSync(config(work), 'utf8');
  expect(written).toContain('email = a@b');
  expect(written).not.toContain('fsmonitor');
}

test('run(): what is held is put in place by accept(), once the user wants it', async () => {
  const work = repository();
  const result = await run(SET.split(';', 1).join(''), { cwd: work, sandbox });
  expect(result.sandbox?.enforced.settings).toBe('gate');
  expect(result.sandbox?.denials).toEqual([]);
  const [held] = result.heldBack;
  expect(held).toMatchObject({ ...ROW, path: config(work) });
  expect(held?.diff).toContain('\n+\tfsmonitor = ./watch\n');
  expect((await heldBack({ workspace: work })).map(({ id }) => id)).toEqual([held?.id]);
  const bare = readFileSync(config(work), 'utf8');
  expect(await held?.accept()).toBe('put');
  expect(readFileSync(config(work), 'utf8')).toBe(`${bare}\tfsmonitor = ./watch\n`);
  expect(await heldBack({ workspace: work })).toEqual([]);
});

test('run(): what a harmless change has altered since is kept', async () => {
  const work = repository();
  const { heldBack: held } = await run(SET, { cwd: work, sandbox });
  expectHeld(work, held);
  const bare = readFileSync(config(work), 'utf8');
  expect(await held[0]?.accept()).toBe('put');
  expect(readFileSync(config(work), 'utf8')).toBe(
    bare.replace('[user]', '\tfsmonitor = ./watch\n[user]'),
  );
  expect(await heldBack({ workspace: work })).toEqual([]);
});

test('run(): several changes of one configuration are accepted one after another', async () => {
  const work = repository();
  const keys = ['core.hooksPath .h', 'alias.st status', 'commit.template .t'];
  const command = keys.map((key) => `git config ${key}`).join('; ');
  const { heldBack: held } = await run(command, { cwd: work, sandbox });
  const bare = readFileSync(config(work), 'utf8');
  for (const one of [...held].reverse()) expect(await one.accept()).toBe('put');
  expect(readFileSync(config(work), 'utf8')).toBe(
    `${bare}\thooksPath = .h\n[commit]\n\ttemplate = .t\n[alias]\n\tst = status\n`,
  );
});

test('run(): a change is not put into another repository that has come to the path', async () => {
  const work = repository();
  const { heldBack: held } = await run('git config core.fsmonitor ./watch', { cwd: work, sandbox });
  renameSync(work, `${work} moved`);
  expect(await held[0]?.accept()).toBe('conflict');
  expect(existsSync(work)).toBe(false);
  execFileSync('git', ['init', '-q', work], { stdio: 'ignore' });
  expect(await held[0]?.accept()).toBe('conflict');
  expect(readFileSync(config(work), 'utf8')).not.toContain('fsmonitor');
  rmSync(work, { recursive: true });
  renameSync(`${work} moved`, work);
  expect(await held[0]?.accept()).toBe('put');
});

test('run(): what is held in a linked worktree, and by a name that is not UTF-8, is found', async () => {
  const work = repository();
  const commit = ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty'];
  execFileSync('git', ['-C', work, ...commit, '-m', 'x']);
  const tree = join(folders(), 'tree');
  execFileSync('git', ['-C', work, 'worktree', 'add', '-q', tree]);
  const command = `printf x > '${work}/.git/hooks/'$(printf '\\377'); ${SET}`;
  const { heldBack: held } = await run(command, { cwd: tree, sandbox });
  const paths = [join(work, '.git/hooks/\ufffd'), config(work)];
  expect(held.map(({ path }) => path)).toEqual(paths);
  expect((await heldBack({ workspace: tree })).map(({ path }) => path)).toEqual(paths);
  expect(await heldBack({ file: join(tree, '.git/config') })).toMatchObject([ROW]);
  for (const one of held) await one.drop();
});

test("settings: 'read-only' holds nothing back, and lets nothing in", async () => {
  const work = repository();
  const before = readFileSync(config(work), 'utf8');
  const policy = { settings: 'read-only' } as const;
  const { heldBack: held, sandbox: report } = await run(SET, { cwd: work, sandbox: policy });
  expect(held).toEqual([]);
  expect(report?.enforced.settings).toBe('mount');
  expect(report?.denials).toMatchObject([{ kind: 'write', rule: 'denyWrite' }]);
  expect(readFileSync(config(work), 'utf8')).toBe(before);
});

test.each([
  [{ filesystem: { denyWrite: [] } }, 'none'],
  [{ filesystem: { denyWrite: ['.git'] } }, 'mount'],
  [{ filesystem: { denyWrite: ['file'] } }, 'none'],
  [{ mode: 'read-only' }, 'mount'],
  [{ mode: 'danger-full-access' }, 'none'],
] as const)('with %j settings are kept by: %s', async (policy, by) => {
  const cwd = repository();
  writeFileSync(join(cwd, 'file'), '');
  const { sandbox: report } = await run('true', { cwd, sandbox: policy });
  expect(report?.enforced.settings).toBe(by);
});

test('spawn(), on a terminal and in a console', async () => {
  for (const pty of [false, true]) {
    const work = repository();
    const live = await spawn(SET, { cwd: work, sandbox, pty });
    expectHeld(work, (await live.result).heldBack);
  }
  const work = repository();
  const { result } = await runInConsole(SET, { ui: new FakeUi(), cwd: work, sandbox });
  expectHeld(work, result.heldBack);
});

test.each(CONTRACT_NAMES)('the text and the receipt of %s', async (contract) => {
  const work = repository();
  const tool = keep(createBashTool({ contract, cwd: work, sandbox }));
  const answer = await tool.execute({ command: SET });
  const text = textOf(answer);
  if (contract === 'plain') expect(JSON.parse(text).notice).toBe(LINE);
  else expect(text).toContain(LINE);
  const { receipt } = answer.details as { receipt: Receipt };
  expectHeld(work, receipt.sandbox?.held);
});

test('calls of a persistent shell have each their own', async () => {
  const work = repository();
  const tool = keep(createBashTool({ contract: 'session', persistent: true, cwd: work, sandbox }));
  const texts: string[] = [];
  for (const command of ['true', SET, 'true', `${SET}; exit 3`]) {
    texts.push(textOf(await tool.execute({ command })));
  }
  expect(texts.map((text) => text.split(LINE).length - 1)).toEqual([0, 1, 0, 1]);
});

test('a model that asks how a background task ended is told', async () => {
  const work = repository();
  const tool = keep(createBashTool({ contract: 'session', cwd: work, sandbox }));
  const { details } = await tool.execute({ command: SET, run_in_background: true });
  const id = details.task?.id ?? '';
  const look = async () => textOf(await tool.taskOutput.execute({ task_id: id }));
  await eventually(async () => expect(await look()).toContain(LINE));
});

test("a task's end is told with it", async () => {
  const work = repository();
  const receipts: (Receipt | undefined)[] = [];
  const manager = new TaskManager({
    onEvent: ({ news }) => {
      for (const one of news) if (one.kind === 'ended') receipts.push(one.receipt);
    },
  });
  await manager.start(SET, { cwd: work, sandbox });
  await eventually(() => expect(receipts).toHaveLength(1));
  expectHeld(work, receipts[0]?.sandbox?.held);
  await manager.dispose();
});

test('a detached command, also when its host has gone', async () => {
  const work = repository();
  const subject = await tasks.start(SET, { cwd: work, sandbox });
  await untilState(subject, 'ended');
  const { state } = subject;
  expectHeld(work, state.kind === 'ended' ? state.receipt?.sandbox?.held : undefined);
  const attached = await cli('attach', subject.id);
  expect(attached.stderr).toBe(`forkline: ${LINE}\n`);
});

test('the command line: on stderr, and in its JSON', async () => {
  const work = repository();
  const flags = ['run', '--cwd', work, '--sandbox', sandbox] as const;
  expect(await cli(...flags, SET)).toMatchObject({ code: 0, stderr: `forkline: ${LINE}\n` });
  const { stdout } = await cli(...flags, '--json', SET);
  const { heldBack: held, sandbox: report } = JSON.parse(stdout.toString());
  expectHeld(work, held);
  expect(report.held).toMatchObject([ROW]);
});

test('a far side tells what it holds, and how it is accepted', async () => {
  const work = repository();
  const far = await connect({ command: [process.execPath, program, 'serve', '--stdio'] });
  try {
    const { heldBack: held } = await far.run(SET, { cwd: work, sandbox });
    expectHeld(work, held);
    expect(held[0]?.diff).toContain('\n+\tfsmonitor = ./watch\n');
    await expect(held[0]?.accept()).rejects.toThrow('held on the far side');
  } finally {
    await far.dispose();
  }
});
