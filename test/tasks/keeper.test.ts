import { expect, test } from 'vitest';
import { FieldReader, writeFields } from '../../src/tasks/detached/keeper/fields.js';
import { decodeState } from '../../src/tasks/detached/keeper/keeper-state.js';
import {
  decodeAnswer,
  encodeCall,
  type KeeperCall,
  MessageStream,
} from '../../src/tasks/detached/keeper/message.js';
import { fc } from '../support/properties.js';

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));

const calls: fc.Arbitrary<KeeperCall> = fc.oneof(
  fc.constant({ kind: 'who' } as const),
  fc.constant({ kind: 'closeInput' } as const),
  fc.record({ kind: fc.constant('write' as const), bytes }),
  fc.record({ kind: fc.constant('signal' as const), signal: fc.nat(64) }),
  fc.record({ kind: fc.constant('end' as const), graceMs: fc.nat() }),
);

test('messages are read from a stream, however it is divided', () => {
  const pieces = fc.array(fc.nat(40), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(), calls)), pieces, (sent, sizes) => {
      const whole = Buffer.concat(sent.map(([number, call]) => encodeCall(number, call)));
      const stream = new MessageStream();
      const received: Buffer[] = [];
      for (let at = 0, turn = 0; at < whole.length; turn += 1) {
        const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
        received.push(...stream.push(whole.subarray(at, at + size)));
        at += size;
      }
      expect(received).toEqual(sent.map(([number, call]) => encodeCall(number, call).subarray(4)));
    }),
  );
});

test('fields are read as they were written, and not beyond their end', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), bytes, (number, field) => {
      const fields = new FieldReader(writeFields(number, field));
      expect([fields.number(), fields.bytes(), fields.isAtEnd]).toEqual([number, field, true]);
      expect(() => fields.number()).toThrow(RangeError);
    }),
  );
});

test('bytes that no keeper has written are refused, and do no harm', () => {
  const words = fc.array(fc.bigInt({ min: -1n, max: 70n }), { maxLength: 40 }).map((numbers) => {
    const buffer = Buffer.alloc(numbers.length * 8);
    for (const [index, number] of numbers.entries()) buffer.writeBigInt64LE(number, index * 8);
    return buffer;
  });
  const refused = (read: () => unknown) => {
    try {
      read();
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
  };
  fc.assert(
    fc.property(fc.oneof(bytes, words), (any) => {
      refused(() => decodeState(any));
      refused(() => decodeAnswer(any));
      refused(() => new MessageStream().push(any));
    }),
  );
});

test('a message that is too long is refused before it has arrived', () => {
  expect(() => new MessageStream().push(Buffer.from([0, 0, 0, 0x7f]))).toThrow(RangeError);
});
