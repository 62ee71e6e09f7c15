import { expect, test } from 'vitest';
import type { Call } from '../../src/remote/wire/call.js';
import { encodeFrame, FRAME } from '../../src/remote/wire/frames.js';
import { WINDOW } from '../../src/remote/wire/lane.js';
import type { Link } from '../../src/remote/wire/link.js';
import { Wire } from '../../src/remote/wire/wire.js';
import { eventually } from '../support/processes.js';
import { fc } from '../support/properties.js';

/** Two ends of a line in memory; bytes come in the next turn, cut anywhere. */
function linePair(cut: (length: number) => number): [Link, Link] {
  const events: Parameters<Link['start']>[0][] = [];
  const end = (own: 0 | 1): Link => ({
    start: (given) => {
      events[own] = given;
    },
    write: (bytes) => {
      const at = cut(bytes.length);
      for (const piece of [bytes.subarray(0, at), bytes.subarray(at)]) {
        if (piece.length > 0) setImmediate(() => events[1 - own]?.bytes(piece));
      }
      // The other side's buffer is always full: it takes more in a while.
      setImmediate(() => events[own]?.writable());
      return false;
    },
    end: () => events[1 - own]?.closed('ended'),
    destroy: () => events[1 - own]?.closed('destroyed'),
    hold: () => {},
  });
  return [end(0), end(1)];
}

const silent = { hello: () => {}, closed: () => {} };
const limits = { maxBytes: 1024 ** 3 };

/** A client, and a far side that does something with each call. */
function pair(opened: (call: Call, body: unknown) => void, cut = (length: number) => length >> 1) {
  const [near, far] = linePair(cut);
  return {
    near: new Wire(near, silent, limits),
    far: new Wire(far, { ...silent, opened }, limits),
  };
}

test('messages of any size come whole and in order, calls beside each other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat({ max: 3_000_000 }), { maxLength: 4 }), {
        minLength: 1,
        maxLength: 4,
      }),
      async (calls) => {
        const { near } = pair((call, body) => {
          call.events = { message: (message) => call.send(message), lost: () => {} };
          call.send(body);
          call.events.cancelled = () => call.finish('bye');
        });
        const ends = calls.map((sizes) => {
          const texts = sizes.map((size) => 'x'.repeat(size));
          const heard: unknown[] = [];
          return new Promise<void>((resolve, reject) => {
            const call = near.open('hello', {
              message: (body) => {
                heard.push(body);
                if (heard.length === texts.length + 1) call.cancel();
              },
              ended: () => resolve(expect(heard).toEqual(['hello', ...texts])),
              lost: reject,
            });
            for (const text of texts) call.send(text);
          });
        });
        await Promise.all(ends);
      },
    ),
    { numRuns: 15 },
  );
});

const aWhile = () => new Promise((resolve) => setTimeout(resolve, 100));

test('bytes that are not read stop at a window, and go on when they are read', async () => {
  const total = 5 * WINDOW;
  const sent: Call[] = [];
  const { near } = pair((call) => {
    sent.push(call);
    call.events = { lost: () => {} };
    for (let at = 0; at < total; at += 64 * 1024) call.sendData(Buffer.alloc(64 * 1024));
  });
  let waiting = 0;
  let came = 0;
  const call = near.open(null, {
    data: (bytes) => {
      came += bytes.length;
      waiting += bytes.length;
    },
    lost: () => {},
  });
  await eventually(() => expect(came).toBe(WINDOW));
  await aWhile();
  expect(came).toBe(WINDOW);
  expect(sent[0]?.waiting).toBe(total - WINDOW);
  await eventually(() => {
    call.consumed(waiting);
    waiting = 0;
    expect(came).toBe(total);
  });
});

test('messages and the end of a call do not wait for bytes that are not read', async () => {
  const { near } = pair((call) => {
    call.sendData(Buffer.alloc(WINDOW + 5));
    call.events = { message: () => call.finish('all'), lost: () => {} };
    call.send('here');
  });
  const heard: unknown[] = [];
  let came = 0;
  const ended = new Promise((resolve) => {
    const call = near.open(null, {
      data: (bytes) => {
        came += bytes.length;
      },
      message: (body) => {
        heard.push(body);
        setTimeout(() => call.send('go'), 50);
      },
      ended: resolve,
      lost: () => {},
    });
  });
  expect(await ended).toBe('all');
  expect({ heard, came }).toEqual({ heard: ['here'], came: WINDOW + 5 });
});

test('a call that is cancelled before it was sent never reaches the far side', async () => {
  let opened = 0;
  const { near } = pair(() => {
    opened += 1;
  });
  const end = new Promise((resolve) => {
    const call = near.open('a', { ended: resolve, lost: () => {} });
    call.cancel();
  });
  expect(await end).toBeUndefined();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(opened).toBe(0);
});

test('a call that is cancelled while it is being sent is never begun', async () => {
  let opened = 0;
  const { near } = pair(() => {
    opened += 1;
  });
  const end = await new Promise((resolve) => {
    const call = near.open('x'.repeat(10_000_000), { ended: resolve, lost: () => {} });
    setTimeout(() => call.cancel(), 1);
  });
  expect(end).toEqual({ neverStarted: true });
  expect(opened).toBe(0);
});

test('more bytes than were granted end the line, and every call is told', async () => {
  const [near, far] = linePair((length) => length);
  const closed: string[] = [];
  const lost: string[] = [];
  const opened = (call: Call): void => {
    call.events = { data: () => {}, lost: (reason) => lost.push(reason) };
  };
  new Wire(far, { ...silent, closed: (reason) => closed.push(reason), opened }, limits);
  near.start({ bytes: () => {}, writable: () => {}, closed: () => {} });
  const send = (kind: 2 | 4, payload: Uint8Array) =>
    near.write(encodeFrame({ kind, more: false, call: 1, payload }));
  send(FRAME.open, Buffer.from('1'));
  for (let count = 0; count < 17; count += 1) send(FRAME.data, Buffer.alloc(64 * 1024));
  await eventually(() => expect(closed).toHaveLength(1));
  expect(closed).toEqual([expect.stringContaining('more bytes were sent than the window allows')]);
  expect(lost).toEqual(closed);
});
