import { AsyncLocalStorage } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { createBashTool, type OnExec, run, spawn, TaskManager } from '../../../src/index.js';
import { COMMIT, MOVE, makeRepository } from '../../support/checkouts.js';
import { COMMAND, decided, unanswering, useAsking } from '../../support/exec.js';
import { testWithNode, useFar } from '../../support/far.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { failureOf, printed } from '../../support/results.js';
import { useScenes } from '../../support/sandbox.js';
import { answerTo } from '../../support/tool.js';

// That each road asks, and goes on with the answer, is in test/options/roads.test.ts.
leavesNothingBehind(40);
const scenes = useScenes();
const asking = useAsking();

test('an answer is asked for in the context of its call, with who runs the program', async () => {
  const context = new AsyncLocalStorage<string>();
  const onExec = vi.fn<OnExec>(({ program, argv, cwd, parents, pid, say }) => {
    expect([context.getStore(), argv, say]).toEqual(['mine', ['env', 'echo', 'asked'], undefined]);
    expect(program).toMatch(/^\/.*\/env$/);
    expect([cwd, parents[0]?.pid, parents.length > 1]).toEqual([options.cwd, pid, true]);
    return 'allow';
  });
  const options = asking();
  const result = await context.run('mine', () => run(COMMAND, { ...options, onExec }));
  expect(printed(result)).toBe('asked\nstatus 0\n');
  expect(onExec).toHaveBeenCalledOnce();
  expect(decided(result)).toMatchObject([{ decision: 'allow', why: 'asked', exact: true }]);
  expect(result.sandbox?.denials).toEqual([]);
});

test('what is recorded, and what is denied, is told of each command alone', async () => {
  const options = asking({ record: true, rules: [{ program: 'env', answer: 'deny', say: 'no' }] });
  const [denied, other] = await Promise.all([run(COMMAND, options), run('sleep 0.1', options)]);
  expect(decided(denied)).toMatchObject([{ decision: 'deny', why: 'rule', say: 'no' }]);
  expect(denied.sandbox?.denials).toMatchObject([
    { kind: 'exec', target: 'env echo asked', rule: 'exec', why: 'rule', say: 'no' },
  ]);
  expect(decided(other)).toEqual([]);
  expect(other.executed?.map(({ argv }) => argv.at(-1))).toContain('0.1');
  const quiet = await run('true', asking());
  expect([quiet.executed, quiet.moreExecuted]).toEqual([[], undefined]);
});

describe('without an answer a program is denied', () => {
  test('when nobody can be asked', async () => {
    const result = await run(COMMAND, asking());
    expect(printed(result)).toContain('status 126');
    expect(decided(result)).toMatchObject([{ decision: 'deny', why: 'unasked' }]);
  });

  test('when none comes in time; then the question is over', async () => {
    const { onExec, asked } = unanswering();
    const result = await run(COMMAND, { ...asking({ askTimeoutMs: 200 }), onExec });
    expect(printed(result)).toContain('status 126');
    expect(decided(result)).toMatchObject([{ decision: 'deny', why: 'unanswered' }]);
    expect((await asked).aborted).toBe(true);
  });

  test('when whoever is asked throws, and the host is warned', async () => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const onExec: OnExec = () => {
      throw new Error('nobody there');
    };
    const result = await run(COMMAND, { ...asking(), onExec });
    expect(decided(result)).toMatchObject([{ decision: 'deny', why: 'asked' }]);
    expect(warnings.mock.calls.flat().join()).toContain('onExec: threw: Error: nobody there');
    warnings.mockRestore();
  });
});

describe('a question is over', () => {
  test('when its command is cancelled', async () => {
    const { onExec, asked } = unanswering();
    const controller = new AbortController();
    const running = run(COMMAND, { ...asking(), onExec, signal: controller.signal });
    const signal = await asked;
    expect(signal.aborted).toBe(false);
    controller.abort();
    expect((await running).outcome).toMatchObject({ kind: 'cancelled', by: 'signal' });
    expect(signal.aborted).toBe(true);
  });

  test('when the time of its command is over', async () => {
    const { onExec, asked } = unanswering();
    const result = await run(COMMAND, { ...asking(), onExec, timeoutMs: 300 });
    const reason = { kind: 'asked', pid: expect.any(Number), command: 'env echo asked' };
    expect(result.outcome).toMatchObject({ kind: 'timedOut', reason });
    expect((await asked).aborted).toBe(true);
  });

  test('when its process is killed; then the command goes on', async () => {
    const { onExec, asked } = unanswering();
    const command = 'env echo asked & sleep 0.5; kill -9 $!; wait $!; echo "status $?"';
    const result = await run(command, { ...asking(), onExec });
    expect(printed(result)).toContain('status 137');
    expect((await asked).aborted).toBe(true);
  });

  test('when its command is over, though the process is not', async () => {
    const { onExec, asked } = unanswering();
    const result = await run('setsid env echo asked >/dev/null 2>&1 & sleep 0.5', {
      ...asking(),
      onExec,
    });
    expect(result.outcome).toEqual({ kind: 'exited', exitCode: 0 });
    expect((await asked).aborted).toBe(true);
  });
});

describe('of the program that is the command itself', () => {
  const argv = ['env', 'echo', 'asked'];

  test('other commands start while it waits, and it has its whole time afterwards', async () => {
    const options = asking();
    let allow: (answer: 'allow') => void = () => {};
    const onExec = vi.fn<OnExec>(
      () =>
        new Promise((resolve) => {
          allow = resolve;
        }),
    );
    const waiting = run(argv, { ...options, onExec, timeoutMs: 5000 });
    await vi.waitFor(() => expect(onExec).toHaveBeenCalled(), 10_000);
    expect(printed(await run('echo other', options))).toBe('other\n');
    await sleep(1000);
    allow('allow');
    const result = await waiting;
    expect(printed(result)).toBe('asked\n');
    expect(result.durationMs).toBeLessThan(900);
  });

  test('a denial is the error of the call', async () => {
    const rules = [{ program: 'env', answer: 'deny', say: 'use printenv' }] as const;
    expect(await failureOf(run(argv, asking({ rules })))).toMatchObject({
      code: 'EACCES',
      step: 'exec',
      message: "EACCES: cannot execute 'env': the rules of its sandbox deny it: use printenv",
    });
    expect(await failureOf(spawn(argv, asking()))).toMatchObject({
      code: 'EACCES',
      message: expect.stringContaining('nobody was there to be asked'),
    });
    // What is told of it is not told of the next command.
    expect((await run('true', asking({ rules }))).executed).toEqual([]);
  });

  test('a cancelled one has never started', async () => {
    const { onExec, asked } = unanswering();
    const controller = new AbortController();
    const running = run(argv, { ...asking(), onExec, signal: controller.signal });
    const signal = await asked;
    controller.abort();
    expect((await running).outcome).toMatchObject({
      kind: 'cancelled',
      ending: { kind: 'neverStarted' },
    });
    expect(signal.aborted).toBe(true);
  });
});

test('a task asks while others run, and is told of no other', async () => {
  const options = asking();
  const onExec = vi.fn<OnExec>(() => 'allow');
  const manager = new TaskManager();
  const [asks, other] = await Promise.all([
    manager.start(COMMAND, { ...options, onExec }),
    manager.start(COMMAND, options),
  ]);
  expect((await asks.ended).text).toContain('status 0');
  expect((await other.ended).text).toContain('status 126');
  expect(onExec).toHaveBeenCalledOnce();
});

test('calls in one shell are asked each in its own context', async () => {
  const context = new AsyncLocalStorage<number>();
  const seen: (number | undefined)[] = [];
  const { cwd, sandbox } = asking({ record: true });
  const onExec: OnExec = () => {
    seen.push(context.getStore());
    return 'allow';
  };
  const tool = createBashTool({ contract: 'session', persistent: true, cwd, sandbox, onExec });
  try {
    for (const call of [1, 2]) {
      const given = { command: `${COMMAND}; /bin/echo ${call}` };
      const { details } = await context.run(call, () => tool.execute(given));
      const { executed = [], sandbox: report } = details?.receipt ?? {};
      expect(decided({ executed })).toMatchObject([{ decision: 'allow', why: 'asked' }]);
      const echoed = executed.filter(({ argv }) => argv[0] === '/bin/echo');
      expect(echoed.map(({ argv }) => argv[1])).toEqual([String(call)]);
      expect(report).not.toHaveProperty('executed');
    }
  } finally {
    await tool.dispose();
  }
  expect(seen).toEqual([1, 2]);
});

test.each(['deny', 'ask'] as const)(
  'a persistent shell starts where all else is %s',
  async (otherwise) => {
    const { cwd, sandbox } = asking({ otherwise });
    const onExec = vi.fn<OnExec>(() => 'deny');
    const tool = createBashTool({ contract: 'session', persistent: true, cwd, sandbox, onExec });
    try {
      expect(await answerTo(tool, { command: 'echo here; cd /; env true' })).toContain('here\n');
      // That holds for the shell itself.
      const told = await answerTo(tool, { command: 'pwd; (exec bash --norc --noprofile -c true)' });
      expect(told).toMatch(/^\/\n/);
      expect(told).toContain('`bash --norc --noprofile -c true`');
    } finally {
      await tool.dispose();
    }
  },
);

test("a snapshot of the user's shell is taken where all else is denied", async () => {
  const { cwd, sandbox } = asking({ otherwise: 'deny' });
  const rcFile = join(cwd, 'rc');
  writeFileSync(rcFile, "alias greet='echo hello'\n");
  const shellSnapshot = { rcFile };
  const tool = createBashTool({ contract: 'workspace', cwd, sandbox, shellSnapshot });
  expect(await answerTo(tool, { command: 'greet' })).toContain('hello');
  await tool.dispose();
});

test("what looks at git's working trees is not asked about, and not told", async () => {
  const work = makeRepository(scenes, '.npmrc');
  const onExec = vi.fn<OnExec>(() => 'allow');
  const exec = { record: true, otherwise: 'ask' } as const;
  const options = { cwd: work, onExec, sandbox: { settings: 'read-only', exec } } as const;
  const moved = await run(MOVE, options);
  expect(moved.sandbox?.unseen).toBe(undefined);
  expect(moved.sandbox?.incomplete).toMatchObject([{ path: '.npmrc', changed: ['.npmrc'] }]);
  const committed = await run(COMMIT, options);
  expect(committed.sandbox?.incomplete).toMatchObject([{ recorded: [{ isHead: true }] }]);
  const argvs = [
    ...onExec.mock.calls.map(([{ argv }]) => argv),
    ...(moved.executed ?? []).map(({ argv }) => argv),
  ];
  expect(argvs.filter((argv) => argv.includes('--literal-pathspecs'))).toEqual([]);
});

describe('on a far side', () => {
  testWithNode('an abort, a time limit and an error end a question there', async () => {
    const far = await useFar();
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const late = unanswering();
    const unanswered = await far.run(COMMAND, {
      ...asking({ askTimeoutMs: 300 }),
      onExec: late.onExec,
    });
    expect(decided(unanswered)).toMatchObject([{ decision: 'deny', why: 'unanswered' }]);
    expect((await late.asked).aborted).toBe(true);
    const onExec: OnExec = () => Promise.reject(new Error('nobody there'));
    const thrown = await far.run(COMMAND, { ...asking(), onExec });
    expect(decided(thrown)).toMatchObject([{ decision: 'deny', why: 'asked' }]);
    expect(warnings.mock.calls.flat().join()).toContain('nobody there');
    warnings.mockRestore();
    const unasked = await far.run(COMMAND, asking());
    expect(decided(unasked)).toMatchObject([{ decision: 'deny', why: 'unasked' }]);
    const { onExec: never, asked } = unanswering();
    const controller = new AbortController();
    const running = far.run(COMMAND, { ...asking(), onExec: never, signal: controller.signal });
    const signal = await asked;
    controller.abort();
    expect((await running).outcome).toMatchObject({ kind: 'cancelled' });
    expect(signal.aborted).toBe(true);
  });

  testWithNode('a line that is gone ends a question', async () => {
    const far = await useFar();
    const { onExec, asked } = unanswering();
    const running = far.run(COMMAND, { ...asking(), onExec });
    const signal = await asked;
    await far.dispose();
    expect((await running).outcome).toMatchObject({ kind: 'cancelled' });
    expect(signal.aborted).toBe(true);
  });
});
