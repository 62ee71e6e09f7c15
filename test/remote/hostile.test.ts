import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { connect } from '../../src/remote/index.js';
import { Connection } from '../../src/remote/near/connection.js';
import { encodeFrame, FRAME, type FrameKind, FrameParser } from '../../src/remote/wire/frames.js';
import { StreamLink } from '../../src/remote/wire/link.js';
import { PROTOCOL } from '../../src/remote/wire/protocol.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { nodeClient } from '../support/messages.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';

// Neither side hangs or ends by what the other says.

leavesNothingBehind();

const frameOf = (kind: FrameKind, call: number, body: unknown): Buffer =>
  encodeFrame({ kind, more: false, call, payload: Buffer.from(JSON.stringify(body)) });

/** A client of a far side that answers each call by what a test says. */
function clientOf(
  answer: (op: string) => readonly (readonly [FrameKind, unknown])[],
  maxBytes = 1e6,
) {
  const [toFar, fromFar] = [new PassThrough(), new PassThrough()];
  const parser = new FrameParser();
  toFar.on('data', (bytes: Buffer) => {
    for (const { kind, call, payload } of parser.push(bytes)) {
      if (kind !== FRAME.open) continue;
      const { op } = JSON.parse(String(payload));
      for (const [said, body] of answer(op)) fromFar.write(frameOf(said, call, body));
    }
  });
  fromFar.write(frameOf(FRAME.hello, 0, { protocol: PROTOCOL, version: '0.0.0' }));
  const link = new StreamLink(fromFar, toFar);
  return Connection.greet(link, { readyMs: 5000, maxBytes, ended: async () => {} });
}

test.each([
  [FRAME.end, { end: null }, /end of command: expected neverStarted, failed, error, ran, got/],
  [FRAME.end, null, /end of command: expected object, got null/],
  [FRAME.end, { ran: {} }, /ran \(end of command\): ran\.engine: expected .*, got nothing/],
  [FRAME.end, { error: null }, /error \(end of command\): error: expected Thrown, got null/],
  [FRAME.end, { failed: 'it' }, /failed: expected Failure, got "it"/],
  [FRAME.message, null, /message of command: expected object, got null/],
  [FRAME.message, { started: 'soon' }, /started: expected whole, got "soon"/],
] as const)('R2: run() is rejected when an answer is not valid: %i %j', async (kind, body, why) => {
  const far = await clientOf(() => [[kind, body]]);
  const error = await failureOf(far.run('true'));
  expect(error).toMatchObject({ name: 'WorkerLostError', started: 'unknown' });
  expect((error as Error).message).toMatch(/the other side can't be understood: /);
  expect((error as Error).message).toMatch(why);
  await far.dispose();
});

const hints = { readOnly: false, destructive: true, idempotent: false, openWorld: true };
const definition = {
  ...{ name: 'bash', description: 'a shell', inputSchema: { type: 'object' } },
  ...{ strict: true, concurrency: 'shared', hints },
};
const made = {
  ...{ made: definition, companions: [], named: {} },
  ...{ hasArtifacts: false, maxTasks: null, cwd: null },
};

test.each([
  ['null', { made: null }, /made \(message of tool\): made: expected Definition, got null/],
  [
    'companions that are none',
    { ...made, companions: [7] },
    /companions\[0\]: expected Definition, got 7/,
  ],
])('R2: no tool is made of %s', async (_, said, why) => {
  const far = await clientOf(() => [[FRAME.message, said]]);
  const error = await failureOf(far.createBashTool({ contract: 'plain' }));
  expect(error).toMatchObject({ name: 'NoWorkerError', message: expect.stringMatching(why) });
  await far.dispose();
});

test.each([
  [FRAME.end, { value: {} }, /value \(end of execute\): value\.result: expected Result/],
  [FRAME.end, {}, /end of execute: expected value, error, neverStarted, got {}/],
  [FRAME.message, { update: null }, /update: expected Result, got null/],
] as const)(
  'R2: a call of a tool is rejected when an answer is not valid: %i %j',
  async (kind, body, why) => {
    const far = await clientOf((op) => [op === 'tool' ? [FRAME.message, made] : [kind, body]]);
    const bash = await far.createBashTool({ contract: 'plain' });
    const error = await failureOf(bash.execute({ command: 'true' }));
    expect(error).toMatchObject({ name: 'WorkerLostError', message: expect.stringMatching(why) });
    await far.dispose();
  },
);

test('R2: a hello that is not valid is an error with the reason', async () => {
  const [toFar, fromFar] = [new PassThrough(), new PassThrough()];
  fromFar.write(frameOf(FRAME.hello, 0, null));
  const link = new StreamLink(fromFar, toFar);
  const greeting = Connection.greet(link, { readyMs: 5000, ended: async () => {} });
  expect(await failureOf(greeting)).toMatchObject({
    message: "the other side can't be understood: hello: expected object, got null",
  });
});

const command = {
  ...{ op: 'command', line: 'cat', options: { pty: true } },
  ...{ tellsStart: true, hasInput: true, listen: 'text', pause: false },
};

test.each([
  ['a message of null before it has started', null],
  ['a size that no terminal has', { do: 'resize', columns: -1, rows: 1e9 }],
  ['a size that is no number', { do: 'resize', columns: {}, rows: 'x' }],
])('R3: a client ends only its own connection by %s', async (_, message) => {
  const other = nodeClient();
  const client = nodeClient();
  for (const each of [other, client]) each.say(FRAME.hello, 0, { protocol: 1, version: '' });
  client.say(FRAME.open, 1, command);
  client.say(FRAME.message, 1, message);
  await client.closed;
  other.say(FRAME.open, 1, { ...command, line: 'true', options: {}, hasInput: false });
  await eventually(() => expect(other.endOf(1)).toHaveProperty('ran'));
  await other.leave();
});

test('R3: an unknown signal is answered as not sent', async () => {
  const client = nodeClient();
  client.say(FRAME.hello, 0, { protocol: 1, version: '' });
  client.say(FRAME.open, 1, command);
  client.say(FRAME.message, 1, { what: 'signal', ask: 1, signal: 'NOPE' });
  await eventually(() => {
    expect(client.heard.map(({ body }) => body)).toContainEqual({ answer: 1, value: false });
  });
  await client.leave();
});

test('R8: a client does not take a message that is longer than it has said', async () => {
  const text = 'x'.repeat(70_000);
  const far = await clientOf(() => [[FRAME.message, { tail: text }]], 65_536);
  expect(await failureOf(far.run('true'))).toMatchObject({
    name: 'WorkerLostError',
    message: expect.stringMatching(/a message is longer than 65536 bytes \(maxBytes\)$/),
  });
  await far.dispose();
});

test('R8: a client closes the line to a far side that sends beyond the window', async () => {
  const far = await clientOf(() =>
    Array.from({ length: 400 }, () => [FRAME.data, 'x'.repeat(60_000)] as const),
  );
  const live = await failureOf(far.spawn('true', { overflow: 'pause' }).then((one) => one.result));
  expect(live).toMatchObject({
    name: 'WorkerLostError',
    message: expect.stringMatching(/more bytes were sent than the window allows$/),
  });
  await far.dispose();
});

test.each([0, 65_535, 2 ** 31, 'x'])('R8: maxBytes is checked: %o', async (maxBytes) => {
  const given = { command: ['false'], maxBytes: maxBytes as number };
  expect(await failureOf(connect(given))).toMatchObject({
    name: 'InputError',
    message: expect.stringMatching(/^maxBytes: expected a whole number from 65536 to 524288000/),
  });
});
