import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { limitsToSnip, snipOutput } from '../../../src/contracts/modes/output.js';
import { firstBytes, lastBytes } from '../../../src/support/text.js';
import { captureOf } from '../../support/captures.js';
import { useFolder } from '../../support/leftovers.js';
import { useModesTools } from '../../support/modes.js';
import { fc } from '../../support/properties.js';
import { textOf } from '../../support/tool.js';

const LIMITS = { maxOutputBytes: 128 * 1024, snipBytes: 4096 };
const makeTool = useModesTools(useFolder());

const anyLimits = fc
  .record({ maxOutputBytes: fc.nat(200), part: fc.float({ min: 0, max: 1, noNaN: true }) })
  .map(({ maxOutputBytes, part }) => ({
    maxOutputBytes: maxOutputBytes + 1,
    snipBytes: Math.floor(((maxOutputBytes + 1) / 2) * part),
  }));
const anyText = fc.string({ unit: fc.constantFrom('a', '\n', 'é', '中', '😀'), maxLength: 300 });

test('output within the limit is returned as it is, longer output by its ends', () => {
  fc.assert(
    fc.property(anyText, anyLimits, (text, limits) => {
      const shown = snipOutput(captureOf(text, limitsToSnip(limits)), limits);
      if (Buffer.byteLength(text) <= limits.maxOutputBytes) return shown.text === text;
      const [title = '', ...rest] = shown.text.split('\n');
      const head = firstBytes(text, limits.snipBytes);
      const tail = lastBytes(text, limits.snipBytes);
      return (
        /^\[output truncated in middle: got \d+B, max is \d+B\]$/.test(title) &&
        rest.join('\n') === `${head}\n\n[snip]\n\n${tail}` &&
        shown.totalBytes === Buffer.byteLength(text)
      );
    }),
  );
});

test('the returned text never exceeds the limit and a title', () => {
  fc.assert(
    fc.property(anyText, anyLimits, (text, limits) => {
      const shown = snipOutput(captureOf(text, limitsToSnip(limits)), limits);
      return Buffer.byteLength(shown.text) <= limits.maxOutputBytes + 200;
    }),
  );
});

test('the engine keeps as much as may be returned whole, and not a byte more', () => {
  fc.assert(
    fc.property(anyLimits, (limits) => {
      const { headBytes, tailBytes } = limitsToSnip(limits);
      return headBytes + tailBytes === limits.maxOutputBytes && tailBytes >= limits.snipBytes;
    }),
  );
});

test.each([
  [131_072, 'whole'],
  [131_073, '[output truncated in middle: got 131073B, max is 128.0KB]'],
  [1_048_576, '[output truncated in middle: got 1.0MB, max is 128.0KB]'],
])('B5: %i bytes are returned %s', async (bytes, title) => {
  const command = `head -c ${bytes} /dev/zero | tr '\\0' x`;
  const text = textOf(await makeTool().execute({ command }));
  if (title === 'whole') expect(text).toBe('x'.repeat(bytes));
  else {
    const [shown, path = ''] = text.split(/\n\[whole output: (.*)\]$/);
    expect(shown).toBe(`${title}\n${'x'.repeat(4096)}\n\n[snip]\n\n${'x'.repeat(4096)}`);
    // B14: the way to the rest.
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(bytes));
  }
});

test('the ends are cut between characters', async () => {
  const command = "python3 -c \"print('中' * 100000, end='')\"";
  const text = textOf(await makeTool().execute({ command })).replace(/\n\[whole output: .*$/, '');
  const end = '中'.repeat(1365);
  expect(text).toBe(
    `[output truncated in middle: got 293.0KB, max is 128.0KB]\n${end}\n\n[snip]\n\n${end}`,
  );
});

test('bytes that are not UTF-8 count as the text that they become', async () => {
  const write = "import sys; sys.stdout.buffer.write(b'text\\xe9' * 20000)";
  const text = textOf(await makeTool().execute({ command: `python3 -c "${write}"` }));
  expect(text).toMatch(
    /^\[output truncated in middle: got 136\.7KB, max is 128\.0KB\]\ntext\uFFFDtext\uFFFD/,
  );
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2 * LIMITS.snipBytes + 400);
  const short = await makeTool().execute({ command: "printf 'a\\x80b'" });
  expect(textOf(short)).toMatch(/^a\uFFFDb\n\[Not all of the output is valid text: /);
});

test('a failing command with long output has its exit code first', async () => {
  const text = textOf(await makeTool().execute({ command: 'seq 1 100000; exit 2' }));
  expect(text).toMatch(
    /^\[command failed: exit code 2\]\n\[output truncated in middle: got 575\.1KB, max is 128\.0KB\]\n1\n2\n/,
  );
  expect(text).toMatch(/\n99999\n100000\n\[whole output: .*\]$/);
});

test('endless output until the timeout has both ends', async () => {
  const tool = makeTool({ timeouts: { default: 0.5 } });
  const text = textOf(await tool.execute({ command: 'echo first; yes' }));
  expect(text).toMatch(/^\[command timed out after 0\.5s\]\n\[output truncated in middle: got /);
  expect(text).toMatch(/\]\nfirst\ny\ny\n/);
});

test('B14: the description says what is cut, and the file goes with the tool', async () => {
  const tool = makeTool();
  expect(tool.description).toContain(
    'Of output longer than 128.0KB the first and the last 4.0KB are returned, with the name of a file',
  );
  const { details } = await tool.execute({ command: "head -c 60000 /dev/zero | tr '\\0' '\\200'" });
  const path = 'wholeOutput' in details ? (details.wholeOutput ?? '') : '';
  expect(readFileSync(path, 'utf8')).toBe('\uFFFD'.repeat(60_000));
  await tool.dispose();
  expect(existsSync(path)).toBe(false);
});
