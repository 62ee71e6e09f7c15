import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Call } from '../../src/remote/wire/call.js';
import { checkerOf } from '../../src/remote/wire/check.js';
import { FRAME } from '../../src/remote/wire/frames.js';
import { NOT_STATIC, SHAPES } from '../../src/remote/wire/message-shapes.js';
import { MESSAGES, type MessageRow } from '../../src/remote/wire/messages.js';
import { PROTOCOL } from '../../src/remote/wire/protocol.js';
import { FAR_BUILT } from '../support/far.js';
import { root } from '../support/house.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  nodeClient,
  type RawClient,
  rightMessage,
  staticClient,
  wrongMessages,
} from '../support/messages.js';
import { where } from '../support/needs.js';
import { eventually } from '../support/processes.js';

// The table of messages: what both far sides and the client make of messages that are what it says, and
// of those that are not.

leavesNothingBehind();

test('the table is the one that the far side without Node has', async () => {
  const table = { protocol: PROTOCOL, messages: MESSAGES, shapes: SHAPES, notStatic: NOT_STATIC };
  // Written anew by `npx vitest run test/remote/messages.test.ts -u`.
  await expect(`${JSON.stringify(table, null, 2)}\n`).toMatchFileSnapshot(
    join(root, 'native', 'far', 'messages.json'),
  );
});

const titleOf = (row: MessageRow): string => `${row.name} (${row.frame} of ${row.of})`;
const line = { isFar: true, ready() {}, urgent() {}, closed() {}, held() {} };

/** Checks a message as one side of a line does; a call that begins is about anything. */
function check(row: MessageRow, body: unknown): boolean {
  const call = new Call(1, line);
  call.subject = row.of === 'line' || row.frame === 'open' ? undefined : row.of;
  return checkerOf(row.from)(FRAME[row.frame], row.of === 'line' ? undefined : call, body);
}

test.each(MESSAGES.map((row) => [titleOf(row), row] as const))(
  'a message is let pass when it is what its row says: %s',
  (_, row) => {
    expect(check(row, rightMessage(row))).toBe(true);
    expect(check(row, { ...rightMessage(row), ofANewerVersion: 1 })).toBe(true);
    for (const wrong of wrongMessages(row)) {
      expect(() => check(row, wrong), JSON.stringify(wrong)).toThrow(/expected .*, got /);
    }
    for (const none of [null, 1, 'text', []]) {
      expect(() => check(row, none)).toThrow(/: expected object, got /);
    }
  },
);

/** A message as an older side says it, which has none of the fields that may be missing. */
function olderMessage(row: MessageRow): Record<string, unknown> {
  const fields = Object.entries(row.fields);
  const optional = fields.filter(([name]) => name.endsWith('?')).map(([name]) => name.slice(0, -1));
  const whole = Object.entries(rightMessage(row));
  return Object.fromEntries(whole.filter(([name]) => !optional.includes(name)));
}

test.each(MESSAGES.map((row) => [titleOf(row), row] as const))(
  'a message is let pass without the fields that an older side has not: %s',
  (_, row) => {
    expect(check(row, olderMessage(row))).toBe(true);
  },
);

test('a message is refused with its name, its field and what was expected', () => {
  const ran = MESSAGES.find(({ name }) => name === 'ran') as MessageRow;
  const right = rightMessage(ran) as { readonly ran: { readonly captures: unknown[] } };
  const text = { ...(right.ran.captures[0] as object), text: 7 };
  expect(() => check(ran, { ran: { ...right.ran, captures: [text] } })).toThrow(
    'ran (end of command): ran.captures[0].text: expected text, got 7',
  );
  expect(() => check(ran, { neither: 1 })).toThrow(
    'end of command: expected neverStarted, failed, error, ran, got {"neither":1}',
  );
});

const hello = { protocol: PROTOCOL, version: '0.0.0' };
const listener = { ...rightMessage(rowOf('open', 'command')), line: 'cat', hasInput: true };

function rowOf(frame: string, name: string): MessageRow {
  return MESSAGES.find((row) => row.frame === frame && row.name === name) as MessageRow;
}

/** Rows of the client that both far sides take or refuse: those of tools have no command under way. */
const BOTH = MESSAGES.filter(
  ({ from, frame, of }) =>
    from === 'client' && (frame === 'open' || of === 'command' || of === 'line'),
);

describe.each([
  ['with Node', nodeClient, where()],
  ['without Node', staticClient, where(FAR_BUILT)],
] as const)('a far side %s', (side, connect, needs) => {
  /** Says one message, and what came of it: the call was refused, the line closed, or it goes on. */
  async function sayTo(client: RawClient, row: MessageRow, body: unknown): Promise<string> {
    if (row.of !== 'line') client.say(FRAME.hello, 0, hello);
    if (row.of === 'command' && row.frame !== 'open') client.say(FRAME.open, 1, listener);
    client.say(FRAME[row.frame], row.of === 'line' ? 0 : 1, body);
    client.say(FRAME.open, 2, { ...listener, line: 'true', hasInput: false });
    await eventually(() => expect(client.isClosed || client.endOf(2)).toBeTruthy());
    if (client.isClosed) return 'closed';
    expect(client.endOf(2)).toHaveProperty('ran');
    const end = client.endOf(1) as { readonly error?: { readonly name: string } } | undefined;
    return end?.error?.name ?? 'goes on';
  }

  async function answerTo(row: MessageRow, body: unknown): Promise<string> {
    const client = connect();
    const answer = await sayTo(client, row, body);
    await client.leave();
    return answer;
  }

  test.each(BOTH.map((row) => [titleOf(row), row] as const))(
    'takes what is right, and answers what is wrong: %s',
    needs,
    async (_, row) => {
      const bodies = [...wrongMessages(row), null, 'text'];
      const wrong = row.frame === 'open' ? 'InputError' : 'closed';
      const answers = await Promise.all(bodies.map((body) => answerTo(row, body)));
      expect(answers).toEqual(bodies.map(() => wrong));
      if (row.static !== 'refused') {
        expect(await answerTo(row, rightMessage(row))).toBe('goes on');
        expect(await answerTo(row, olderMessage(row)), 'from an older side').toBe('goes on');
        const newer = { ...rightMessage(row), ofANewerVersion: { of: [1] } };
        expect(await answerTo(row, newer), 'from a newer side').toBe('goes on');
      } else if (side === 'without Node') {
        expect(await answerTo(row, rightMessage(row))).toBe(wrong);
      }
    },
  );

  test('ignores unknown messages, and answers unknown questions', needs, async () => {
    const client = connect();
    const row = rowOf('message', 'look');
    client.say(FRAME.notice, 0, { anything: 1 });
    expect(await sayTo(client, row, { do: 'dance' })).toBe('goes on');
    client.say(FRAME.message, 1, { what: 'dance', ask: 9 });
    client.say(FRAME.message, 1, { what: 'signal', ask: 10, signal: 'SIGNOPE' });
    client.say(FRAME.open, 3, { op: 'dance' });
    await eventually(() => {
      const answers = client.heard.filter(({ body }) => Object.hasOwn(body as object, 'answer'));
      expect(answers.map(({ body }) => body)).toEqual([
        { answer: 9, value: null },
        { answer: 10, value: false },
      ]);
      expect(client.endOf(3)).toMatchObject({ error: { name: 'InputError' } });
    });
    await client.leave();
  });
});
