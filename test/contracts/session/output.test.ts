import { expect, test } from 'vitest';
import { firstCharacters, showStream } from '../../../src/contracts/session/output.js';
import { printBytes } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { fc } from '../../support/properties.js';
import { data, useSessionTools } from '../../support/session.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

const text = fc.string({ unit: 'binary' });

test('the first characters are code points, whatever they are', () => {
  fc.assert(
    fc.property(text, fc.nat(20), (whole, count) => {
      expect(firstCharacters(whole, count)).toBe([...whole].slice(0, count).join(''));
    }),
  );
});

test('a stream is whole up to the limit, and above it its beginning with the exact total', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 20 }), (whole, limit) => {
      const characters = [...whole].length;
      const total = { bytes: Buffer.byteLength(whole), characters, lines: 0 };
      const shown = showStream(
        'stdout',
        { kind: 'complete', text: whole, total, lossy: false },
        limit,
      );
      expect(shown.characters).toBe(characters);
      expect(shown.isCut).toBe(characters > limit);
      if (!shown.isCut) expect(shown.text).toBe(whole);
      else {
        const start = firstCharacters(whole, limit);
        expect(shown.text.startsWith(start)).toBe(true);
        expect(shown.text.slice(start.length)).toMatch(
          new RegExp(`^\\n?\\[stdout truncated: it has ${characters} characters, `),
        );
      }
    }),
  );
});

test('real output is cut where the model is told, in characters of one to four bytes', async () => {
  const tool = newSession({ maxCharacters: 8 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'é', '中', '😀', '\n'), { minLength: 1, maxLength: 40 }),
      async (characters) => {
        const answer = await data(tool, printBytes(Buffer.from(characters.join(''))));
        expect(answer.stdout_characters).toBe(characters.length);
        const start = characters.slice(0, 8).join('');
        expect(String(answer.stdout).startsWith(start)).toBe(true);
        if (characters.length <= 8) expect(answer.stdout).toBe(start);
      },
    ),
    { numRuns: 60 },
  );
});

test('exactly the limit is not cut, in the widest characters too', async () => {
  const tool = newSession();
  const print = (count: number) => `printf '😀%.0s' $(seq ${count})`;
  const whole = await data(tool, print(30_000));
  expect(whole).toMatchObject({ stdout: '😀'.repeat(30_000), stdout_characters: 30_000 });
  const cut = await data(tool, print(30_001));
  expect(cut.stdout).toMatch(/^(?:😀){30000}\n\[stdout truncated: it has 30,001 characters, /u);
});

test('invalid bytes are characters of their own, and counted so', async () => {
  const answer = await data(
    newSession({ maxCharacters: 3 }),
    `${printBytes(Buffer.of(0x61, 0xff, 0xfe, 0x62))}`,
  );
  expect(answer.stdout_characters).toBe(4);
  expect(answer.stdout).toMatch(/^a\uFFFD\uFFFD\n\[stdout truncated/);
});

test('a stream of any size is counted to its end in bounded memory', async () => {
  const tool = newSession();
  await data(tool, 'true');
  const before = process.memoryUsage.rss();
  const answer = await data(tool, 'yes 123456789 | head -c 400000000; echo err >&2; cd /usr');
  expect(answer).toMatchObject({ stdout_characters: 400_000_000, stderr: 'err\n', cwd: '/usr' });
  expect(answer.stdout).toMatch(/\n\[stdout truncated: it has 400,000,000 characters, /);
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
});
