import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { run } from '../../../src/index.js';
import { printBytes } from '../../support/commands.js';
import { type Host, startHost } from '../../support/hosts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { fc } from '../../support/properties.js';

vi.stubEnv('FORKLINE_ENGINE', 'portable');
leavesNothingBehind();

let native: Host;
beforeAll(() => {
  native = startHost('commands', { env: { FORKLINE_ENGINE: 'native' } });
});
afterAll(async () => {
  native.child.stdin?.end();
  await native.ended;
});

/** What has broken decoders: halves of characters, surrogates, overlong forms, NUL, ends of lines. */
const NASTY = [
  'f09f',
  '9880',
  'e282',
  'ac',
  'c3',
  'eda080',
  'c080',
  'f8',
  '00',
  '0a',
  '0d0a',
  'efbbbf',
];
const piece = fc.oneof(
  fc.constantFrom(...NASTY).map((hex) => Buffer.from(hex, 'hex')),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
);
const output = fc.array(piece, { maxLength: 60 }).map((pieces) => Buffer.concat(pieces));
const size = fc.integer({ min: 0, max: 80 });

test('both engines keep, cut and count any output alike', async () => {
  await fc.assert(
    fc.asyncProperty(output, size, size, async (bytes, headBytes, tailBytes) => {
      const command = printBytes(bytes);
      const options = { headBytes, tailBytes };
      const { output, engine } = await run(command, options);
      const { result } = await native.run(command, options);
      expect([engine, result?.engine]).toEqual(['portable', 'native']);
      expect(output).toEqual(result?.output);
    }),
    { numRuns: 150 },
  );
});

test('output in pieces is counted and cut as the whole is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), size, size, async (pieces, head, tail) => {
      const limits = { headBytes: head, tailBytes: tail };
      const commands = pieces.map((bytes) => `${printBytes(bytes)}; sleep 0.002`);
      const apart = await run(['true', ...commands].join('\n'), limits);
      const whole = await run(printBytes(Buffer.concat(pieces)), limits);
      expect(apart.output).toEqual(whole.output);
    }),
    { numRuns: 40 },
  );
});

test('stdout and stderr are one stream, in the order in which they were written', async () => {
  const command = 'for i in $(seq 200); do echo $i; echo $i >&2; done';
  const { output } = await run(command);
  const expected = Array.from({ length: 200 }, (_, index) => `${index + 1}\n${index + 1}\n`);
  expect(output).toMatchObject({ kind: 'complete', text: expected.join('') });
});
