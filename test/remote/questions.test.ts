import { expect, test, vi } from 'vitest';
import type { ExecRequest, OnExec } from '../../src/index.js';
import { ClientQuestions } from '../../src/remote/far/client-questions.js';
import { FarQuestions } from '../../src/remote/near/far-questions.js';

const SENT = { program: '/bin/env', argv: ['env'], cwd: '/', pid: 7, parents: [] };

/** Both ends of a line, without what is between them. */
function ends(onExec: OnExec) {
  const sent: object[] = [];
  const far = new ClientQuestions((message) => {
    sent.push(message);
    if ('mayRun' in message) near.ask(message.mayRun, message.request);
    if ('withdrawn' in message) near.withdraw(message.withdrawn);
  });
  const near: FarQuestions = new FarQuestions(onExec, (question, answer) =>
    far.decide(question, answer),
  );
  return { far, near, sent };
}

const asking = (controller = new AbortController()): ExecRequest => {
  return { ...SENT, signal: controller.signal };
};

test('a question goes to the client without its signal, and the answer comes back', async () => {
  const onExec = vi.fn<OnExec>(({ argv }) => (argv[0] === 'env' ? 'allow' : 'deny'));
  const { far, sent } = ends(onExec);
  expect(await Promise.all([far.ask(asking()), far.ask({ ...asking(), argv: ['rm'] })])).toEqual([
    'allow',
    'deny',
  ]);
  expect(sent[0]).toEqual({ mayRun: 1, request: SENT });
  expect(onExec.mock.calls[0]?.[0].signal).toBeInstanceOf(AbortSignal);
});

test('the end of a question is told, and aborts its signal there', async () => {
  const told: AbortSignal[] = [];
  const { far, sent } = ends(({ signal }) => {
    told.push(signal);
    return new Promise(() => {});
  });
  const controller = new AbortController();
  const answer = far.ask(asking(controller));
  controller.abort();
  expect(await answer).toBe('deny');
  expect(sent.at(-1)).toEqual({ withdrawn: 1 });
  expect(told[0]?.aborted).toBe(true);
});

test('without a line all is denied, and nothing is sent', async () => {
  const { far, near, sent } = ends(() => new Promise(() => {}));
  const controller = new AbortController();
  const open = far.ask(asking(controller));
  near.close();
  far.close();
  expect([await open, await far.ask(asking())]).toEqual(['deny', 'deny']);
  controller.abort();
  expect(sent).toHaveLength(1);
});
