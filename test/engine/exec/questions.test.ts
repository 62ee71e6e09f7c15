import { afterEach, expect, test, vi } from 'vitest';
import type { AskedRecord } from '../../../src/engine/addon/native.js';
import { ASKED } from '../../../src/engine/addon/native.js';
import type { ExecRequest, OnExec } from '../../../src/engine/exec/exec-request.js';
import { Questions } from '../../../src/engine/exec/questions.js';

const parents: AskedRecord[8] = [
  [42, '/bin/sh'],
  [41, '/usr/bin/make'],
];
const asked = (number: number): AskedRecord => {
  return [ASKED, 5, 3, number, 42, '/usr/bin/git', '/there', 'wait', parents, ['git', 'push']];
};
const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
afterEach(() => warnings.mockClear());

/** Asks one question, and returns what was answered. */
async function answerOf(onExec: OnExec | undefined): Promise<readonly number[][]> {
  const decide = vi.fn<(...numbers: number[]) => void>();
  new Questions(decide).ask(asked(7), onExec);
  await vi.waitFor(() => expect(decide).toHaveBeenCalled());
  return decide.mock.calls;
}

test('a question is told as it is, and answered by its number', async () => {
  const onExec = vi.fn<OnExec>(() => 'allow');
  expect(await answerOf(onExec)).toEqual([[3, 7, 1]]);
  expect(onExec.mock.calls).toEqual([
    [
      {
        program: '/usr/bin/git',
        argv: ['git', 'push'],
        cwd: '/there',
        pid: 42,
        parents: [
          { pid: 42, program: '/bin/sh' },
          { pid: 41, program: '/usr/bin/make' },
        ],
        say: 'wait',
        signal: expect.any(AbortSignal),
      },
    ],
  ]);
  expect(await answerOf(() => Promise.resolve('deny'))).toEqual([[3, 7, 0]]);
  expect(warnings).not.toHaveBeenCalled();
});

test('without anybody to ask it is denied for that', async () => {
  expect(await answerOf(undefined)).toEqual([[3, 7, 2]]);
});

test.each<[string, OnExec, string]>([
  [
    'throws',
    () => {
      throw new Error('no');
    },
    'threw: Error: no',
  ],
  ['rejects', () => Promise.reject(new Error('no')), 'threw: Error: no'],
  ['answers otherwise', () => 'yes' as 'allow', "expected 'allow' or 'deny', got \"yes\""],
])('an onExec that %s denies, and the host is warned', async (_, onExec, said) => {
  expect(await answerOf(onExec)).toEqual([[3, 7, 0]]);
  expect(warnings.mock.calls).toEqual([[`onExec: ${said}; /usr/bin/git was denied`]]);
});

test('once a question is withdrawn its signal is aborted, and a late answer is ignored', async () => {
  const decide = vi.fn();
  const questions = new Questions(decide);
  let request: ExecRequest | undefined;
  let answer: (answer: 'allow') => void = () => {};
  const onExec: OnExec = (told) => {
    request = told;
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  questions.ask(asked(1), onExec);
  questions.withdraw(3, 2);
  expect(request?.signal.aborted).toBe(false);
  questions.withdraw(3, 1);
  expect(request?.signal.aborted).toBe(true);
  // The next question may have the number again.
  questions.ask(asked(1), () => new Promise(() => {}));
  answer('allow');
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(decide).not.toHaveBeenCalled();
});
