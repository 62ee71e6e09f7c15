import {
  CLIENT_CAPABILITIES_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ExecRequest } from '../../src/index.js';
import { RoundsCall } from '../../src/mcp/asking/rounds.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const server = { getClientCapabilities: () => undefined } as unknown as Server;

/** A request of a client that can ask its user. */
const requestOf = (inputResponses?: object, signal = new AbortController().signal) => {
  const envelope = { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { form: {} } } };
  return { mcpReq: { envelope, signal, inputResponses } } as unknown as ServerContext;
};

const questionOf = (signal: AbortSignal): ExecRequest => ({
  ...{ program: '/bin/rm', argv: ['rm'], cwd: '/', pid: 1, parents: [] },
  signal,
});

const done = { content: [] };
const ALLOWED = { action: 'accept', content: { answer: 'allow' } };

test('a client that does not come back has left the call', async () => {
  const time = new AbortController();
  const call = new RoundsCall(server, requestOf());
  const answers: string[] = [];
  const first = await call.begin(async () => {
    answers.push(await call.ask(questionOf(time.signal)));
    return new Promise(() => {});
  });
  expect(first).toMatchObject({ resultType: 'input_required', requestState: call.id });
  time.abort();
  await vi.advanceTimersByTimeAsync(9000);
  expect(answers).toEqual(['deny']);
  expect(call.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(2000);
  expect(call.signal.aborted).toBe(true);
});

test('one that comes back late gets the result', async () => {
  const time = new AbortController();
  const call = new RoundsCall(server, requestOf());
  await call.begin(async () => {
    await call.ask(questionOf(time.signal));
    call.over();
    return done;
  });
  time.abort();
  await vi.advanceTimersByTimeAsync(5000);
  expect(await call.resume(requestOf({ 'program-1': ALLOWED }))).toBe(done);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(call.signal.aborted).toBe(false);
});

test('what is asked while the client has questions comes in the next round', async () => {
  const { signal } = new AbortController();
  const call = new RoundsCall(server, requestOf());
  const answers: string[] = [];
  let askMore = (): void => {};
  const first = await call.begin(async () => {
    const more = new Promise<void>((resolve) => {
      askMore = resolve;
    });
    const asked = [call.ask(questionOf(signal)), more.then(() => call.ask(questionOf(signal)))];
    answers.push(...(await Promise.all(asked)));
    return done;
  });
  expect(Object.keys(first.inputRequests ?? {})).toEqual(['program-1']);
  askMore();
  await vi.advanceTimersByTimeAsync(0);
  const second = await call.resume(requestOf({ 'program-1': ALLOWED, 'program-2': ALLOWED }));
  expect(Object.keys(second.inputRequests ?? {})).toEqual(['program-2']);
  expect(await call.resume(requestOf({}))).toBe(done);
  expect(answers).toEqual(['allow', 'deny']);
});

test('clients are asked no more rounds than they take part in', async () => {
  const { signal } = new AbortController();
  const call = new RoundsCall(server, requestOf());
  const answers: string[] = [];
  let answer = await call.begin(async () => {
    for (let count = 1; count <= 10; count += 1) answers.push(await call.ask(questionOf(signal)));
    return done;
  });
  for (let round = 1; answer !== done; round += 1) {
    expect(round).toBeLessThan(10);
    answer = await call.resume(requestOf({ [`program-${round}`]: ALLOWED }));
  }
  expect(answers).toEqual([...Array(9).fill('allow'), 'deny']);
  expect(call.wasMute).toBe(true);
});

test('the end of the request that waits ends the call', async () => {
  const control = new AbortController();
  const call = new RoundsCall(server, requestOf());
  await call.begin(async () => {
    await call.ask(questionOf(new AbortController().signal));
    return new Promise(() => {});
  });
  void call.resume(requestOf({}, control.signal));
  expect(call.signal.aborted).toBe(false);
  control.abort();
  expect(call.signal.aborted).toBe(true);
});
