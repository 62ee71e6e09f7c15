import { expect, test } from 'vitest';
import { DecodedCapture } from '../../src/command/encoding/decoded-capture.js';
import { InputError, run, spawn } from '../../src/index.js';
import { captureOf } from '../support/captures.js';
import { quote } from '../support/commands.js';
import { useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';
import { failureOf } from '../support/results.js';

const folder = useFolder();

/** Prints a text in UTF-16, where bytes of a character may equal NUL or a newline. */
const print = (text: string) => `printf %s ${quote(text)} | iconv -f UTF-8 -t UTF-16LE`;

test('B20: output in another encoding is decoded to text', async () => {
  const result = await run("printf '\\xc4\\xe3\\xba\\xc3\\n'", { encoding: 'gbk' });
  expect(result.output).toEqual({
    kind: 'complete',
    text: '你好\n',
    total: { bytes: 7, characters: 3, lines: 1 },
    lossy: false,
  });
});

test('B20: stdout and stderr are decoded separately, each with its own incomplete characters', async () => {
  const command =
    "printf '\\xc4'; printf '\\xba' >&2; sleep .2; printf '\\xe3'; printf '\\xc3' >&2";
  const heard: string[] = [];
  const result = await run(command, {
    encoding: 'gbk',
    streams: 'separate',
    onOutput: ({ stream, text }) => heard.push(`${stream} ${text}`),
  });
  expect(result.stdout).toMatchObject({ text: '你', lossy: false });
  expect(result.stderr).toMatchObject({ text: '好', lossy: false });
  expect(heard.sort()).toEqual(['stderr 好', 'stdout 你']);
});

test('B20: an incomplete character and NUL make the text lossy', async () => {
  const half = await run("printf 'a\\xc4'", { encoding: 'gbk' });
  expect(half.output).toMatchObject({ text: 'a�', lossy: true });
  const nul = await run("printf 'a\\0b'", { encoding: 'latin1' });
  expect(nul.output).toMatchObject({ text: 'a␀b', lossy: true });
});

test('B20: long output is cut as text, counted to the end, and its file has the exact bytes', async () => {
  const spill = folder.file('spill');
  const command = `yes 'größer als 5 €' | head -n 400000 | iconv -f UTF-8 -t UTF-16LE`;
  const limits = { headBytes: 10, tailBytes: 10 };
  const { output, spill: report } = await run(command, { encoding: 'utf-16le', spill, ...limits });
  const text = 'größer als 5 €\n'.repeat(400_000);
  const expected = captureOf(text, limits);
  // `dropped` counts newlines, where captureOf() counts lines.
  expect(output).toEqual({
    ...expected,
    dropped: { bytes: 7_599_980, characters: 5_999_984, lines: 399_999 },
  });
  expect(report).toMatchObject({ bytes: 2 * text.length, dropped: 0 });
});

test('B20: a slow listener does not delay the command, and learns how much it has missed', async () => {
  let bytes = 0;
  const { output } = await run(`yes | head -c 8000000 | iconv -f UTF-8 -t UTF-16LE`, {
    encoding: 'utf-16le',
    onOutput: ({ text, droppedBytes }) => {
      bytes += text.length + droppedBytes;
    },
  });
  expect(output.total.bytes).toBe(8_000_000);
  expect(bytes).toBe(8_000_000);
});

test.each(['drop', 'pause'] as const)(
  'B20: a live command is read in its encoding, with overflow: %s',
  async (overflow) => {
    await using live = await spawn(`${print('你好\n')}; exec sleep 60`, {
      encoding: 'utf-16le',
      overflow,
    });
    for await (const chunk of live) {
      expect(chunk).toEqual({ stream: 'output', text: '你好\n', droppedBytes: 0 });
      break;
    }
    expect(await live.snapshot()).toMatchObject({ output: { text: '你好\n', lossy: false } });
    expect(await live.kill()).toMatchObject({ output: { text: '你好\n' } });
  },
);

test('B20: a live command without a reader waits or goes on, by its overflow option', async () => {
  const command = 'yes | head -c 8000000 | iconv -f UTF-8 -t UTF-16LE';
  const dropping = await spawn(command, { encoding: 'utf-16le' });
  expect(await dropping.result).toMatchObject({ output: { total: { bytes: 8_000_000 } } });
  let [read, missed] = [0, 0];
  for await (const { text, droppedBytes } of dropping) {
    read += text.length;
    missed += droppedBytes;
  }
  expect(missed).toBeGreaterThan(0);
  expect(read + missed).toBe(8_000_000);
  const pausing = await spawn(command, { encoding: 'utf-16le', overflow: 'pause' });
  let seen = 0;
  for await (const { text } of pausing) seen += text.length;
  expect(seen).toBe(8_000_000);
  const left = await spawn(command, { encoding: 'utf-16le', overflow: 'pause' });
  for await (const _ of left) break;
  expect(await left.result).toMatchObject({ output: { total: { bytes: 8_000_000 } } });
});

test.each([5, 'nope', ''])('B20: %j is refused as an encoding', async (encoding) => {
  const calls: [Promise<unknown>, string][] = [
    [run('true', { encoding: encoding as string }), ''],
    [spawn('true', { encoding: encoding as string }), "'text', 'bytes' or "],
  ];
  for (const [call, words] of calls) {
    const error = await failureOf(call);
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toBe(
      `encoding: expected ${words}the label of an encoding, such as gbk, shift_jis or utf-16le, got ${JSON.stringify(encoding)}`,
    );
  }
});

test('B20: of decoded text the same parts are kept as the engine keeps of UTF-8', () => {
  const text = fc.array(fc.constantFrom('a', 'é', '你', '😀', '\n', 'word ', '\r\n'), {
    maxLength: 60,
  });
  const size = fc.integer({ min: 0, max: 40 });
  fc.assert(
    fc.property(
      text,
      size,
      size,
      fc.integer({ min: 1, max: 9 }),
      (parts, headBytes, tailBytes, step) => {
        const whole = parts.join('');
        const bytes = Buffer.from(whole, 'utf16le');
        const capture = new DecodedCapture('utf-16le', { headBytes, tailBytes });
        let said = '';
        for (let at = 0; at < bytes.length; at += step) {
          said += capture.push(bytes.subarray(at, at + step));
        }
        said += capture.end();
        expect(said).toBe(whole);
        const made = capture.capture();
        const expected = captureOf(whole, { headBytes, tailBytes });
        if (made.kind === 'cut' && expected.kind === 'cut') {
          // The engine's count of newlines, not of lines.
          const lines = made.dropped.lines;
          expect({ ...made, dropped: { ...made.dropped, lines } }).toEqual({
            ...expected,
            dropped: { ...expected.dropped, lines },
          });
        } else expect(made).toEqual(expected);
      },
    ),
  );
});
