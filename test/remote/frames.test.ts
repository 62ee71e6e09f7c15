import { expect, test } from 'vitest';
import { encodeFrame, FRAME, type Frame, FrameParser } from '../../src/remote/wire/frames.js';
import { fc } from '../support/properties.js';

const frame: fc.Arbitrary<Frame> = fc.record({
  kind: fc.constantFrom(...Object.values(FRAME)),
  more: fc.boolean(),
  call: fc.nat({ max: 2 ** 32 - 1 }),
  payload: fc.uint8Array({ maxLength: 300 }),
});

/** Bytes in pieces whose sizes come from a list, over and over. */
function inPieces(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

test('frames are parsed the same, however the line cuts their bytes', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1 }),
      (frames, sizes) => {
        const parser = new FrameParser();
        const bytes = Buffer.concat(frames.map(encodeFrame));
        const read = inPieces(bytes, sizes).flatMap((piece) => parser.push(piece));
        const plain = (one: Frame) => ({ ...one, payload: [...one.payload] });
        expect(read.map(plain)).toEqual(frames.map(plain));
      },
    ),
  );
});

test('bytes that are no frames are refused, and never make one too large', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 10, maxLength: 500 }), (bytes) => {
      const parser = new FrameParser();
      try {
        for (const { payload } of parser.push(bytes)) {
          expect(payload.length).toBeLessThanOrEqual(bytes.length);
        }
      } catch (error) {
        expect(error).toMatchObject({ name: 'ProtocolFault' });
      }
    }),
  );
  const huge = Buffer.from([0xff, 0xff, 0xff, 0xff, FRAME.data, 0, 0, 0, 0, 1]);
  expect(() => new FrameParser().push(huge)).toThrow('expected a frame');
});
