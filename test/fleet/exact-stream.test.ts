import { expect, test } from 'vitest';
import { ExactStream, IN_FLIGHT } from '../../src/fleet/line/exact-stream.js';
import { decodePacket, encodePacket, type Packet } from '../../src/fleet/line/packet.js';
import { fc } from '../support/properties.js';

const MOST = 1000;

/** What happens between two sides, in the order of a list. */
type Step =
  | { readonly kind: 'write'; readonly by: 0 | 1; readonly size: number }
  /** The message at this place of all that are under way comes, is lost, or comes and stays. */
  | { readonly kind: 'come' | 'lose' | 'repeat'; readonly to: 0 | 1; readonly at: number }
  /** All that is under way to both is lost, and this side knows. */
  | { readonly kind: 'reconnect'; readonly by: 0 | 1 };

const side = fc.constantFrom<0 | 1>(0, 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('write'),
      by: side,
      size: fc.integer({ min: 1, max: 3500 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('come'), to: side, at: fc.nat({ max: 9 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('lose', 'repeat'),
      to: side,
      at: fc.nat({ max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reconnect'), by: side }) },
) as fc.Arbitrary<Step>;

/** Two sides, and what is under way to each. */
function pair() {
  const underWay: [Packet[], Packet[]] = [[], []];
  const got: [Buffer[], Buffer[]] = [[], []];
  const due = new Set<0 | 1>();
  const make = (own: 0 | 1): ExactStream =>
    new ExactStream(MOST, {
      send: (packet) => underWay[own === 0 ? 1 : 0].push(packet),
      deliver: (bytes) => got[own].push(Buffer.from(bytes)),
      writable: () => {},
      acknowledgeSoon: () => due.add(own),
    });
  const streams: [ExactStream, ExactStream] = [make(0), make(1)];
  return { streams, underWay, got, due };
}

test('what comes is exactly what was sent, whatever is lost, repeated, reordered, or cut off', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const { streams, underWay, got, due } = pair();
      const sent: [Buffer[], Buffer[]] = [[], []];
      let written = 0;
      for (const one of steps) {
        if (one.kind === 'write') {
          const bytes = Buffer.alloc(one.size, written % 251);
          written += 1;
          sent[one.by].push(bytes);
          streams[one.by].write(bytes);
        } else if (one.kind === 'reconnect') {
          underWay[0].length = underWay[1].length = 0;
          streams[one.by].sendAgain();
          streams[one.by].acknowledge(true);
        } else {
          const line = underWay[one.to];
          const packet = line[one.at % Math.max(1, line.length)];
          if (packet === undefined) continue;
          if (one.kind !== 'repeat') line.splice(line.indexOf(packet), 1);
          if (one.kind !== 'lose') streams[one.to].receive(packet);
        }
      }
      // From here on nothing is lost: what both look after now and then comes to rest.
      for (let round = 0; round < 20; round += 1) {
        for (const to of [0, 1] as const) {
          for (const packet of underWay[to].splice(0)) streams[to].receive(packet);
        }
        for (const own of due) streams[own].acknowledge();
        due.clear();
        if (underWay.flat().length === 0) for (const stream of streams) stream.sendAgain();
      }
      for (const [from, to] of [
        [0, 1],
        [1, 0],
      ] as const) {
        expect(Buffer.concat(got[to]).equals(Buffer.concat(sent[from]))).toBe(true);
        expect(streams[from].isWaiting).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});

test('packets are read as they were written, and other bytes are refused', () => {
  const packet = fc.record({
    kind: fc.constantFrom<Packet['kind']>('data', 'beat', 'bye'),
    seq: fc.nat({ max: 2 ** 32 - 1 }),
    ack: fc.nat({ max: 2 ** 32 - 1 }),
    wantsAgain: fc.boolean(),
    payload: fc.uint8Array({ maxLength: 50 }),
  });
  fc.assert(
    fc.property(packet, (given) => {
      const read = decodePacket(encodePacket(given));
      expect({ ...read, payload: [...(read?.payload ?? [])] }).toEqual({
        ...given,
        payload: [...given.payload],
      });
    }),
  );
  expect(decodePacket(Buffer.from('short'))).toBeUndefined();
  expect(decodePacket(Buffer.alloc(20, 9))).toBeUndefined();
});

test('a writer has to wait while too much is under way, and goes on later', () => {
  const { streams, underWay } = pair();
  const bytes = Buffer.alloc(MOST);
  let isWritable = true;
  let written = 0;
  for (; isWritable; written += MOST) isWritable = streams[0].write(bytes);
  expect(written).toBeGreaterThanOrEqual(IN_FLIGHT);
  expect(written).toBeLessThan(IN_FLIGHT + 2 * MOST);
  for (const packet of underWay[1].splice(0)) streams[1].receive(packet);
  for (const packet of underWay[0].splice(0)) streams[0].receive(packet);
  expect(streams[0].write(bytes)).toBe(true);
});

test('a gap is reported once, and the missing packets are sent once, however many follow it', () => {
  const { streams, underWay } = pair();
  for (let count = 0; count < 50; count += 1) streams[0].write(Buffer.alloc(MOST));
  const [, ...others] = underWay[1].splice(0);
  for (const packet of others) streams[1].receive(packet);
  expect(underWay[0].filter(({ wantsAgain }) => wantsAgain)).toHaveLength(1);
  for (const packet of [...underWay[0], ...underWay[0]]) streams[0].receive(packet);
  expect(underWay[1]).toHaveLength(50);
});

test('no more packets behind a gap are kept than may be under way (Q14)', () => {
  const size = 1024 * 1024;
  const delivered: number[] = [];
  const stream = new ExactStream(size, {
    send: () => {},
    deliver: (bytes) => delivered.push(bytes.length),
    writable: () => {},
    acknowledgeSoon: () => {},
  });
  const packet = {
    kind: 'data',
    ack: 1,
    wantsAgain: false,
    payload: new Uint8Array(size),
  } as const;
  for (let seq = 2; seq <= 40; seq += 1) stream.receive({ ...packet, seq });
  stream.receive({ ...packet, seq: 1 });
  expect(delivered).toHaveLength(1 + (2 * IN_FLIGHT) / size);
});

test('a packet that comes twice is acknowledged again, since the first acknowledgement may be lost (Q14)', () => {
  const { streams, underWay, due } = pair();
  streams[0].write(new Uint8Array(10));
  const [packet] = underWay[1];
  if (packet === undefined) throw new Error('nothing was sent');
  streams[1].receive(packet);
  expect([...due]).toEqual([1]);
  due.clear();
  streams[1].receive(packet);
  expect([...due]).toEqual([1]);
});
