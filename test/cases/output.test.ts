import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type OutputChunk, run } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { exited, printed } from '../support/results.js';
import { answerTo, textOf, useWorkspaceTools } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();

const newTool = useWorkspaceTools(folder);

/** Runs a command and returns all chunks of its output too. */
async function streamed(command: string) {
  const chunks: OutputChunk[] = [];
  const result = await run(command, { onOutput: (chunk) => chunks.push(chunk) });
  return { result, texts: chunks.map(({ text }) => text) };
}

test('C1: a character whose bytes come separately is whole in every chunk', async () => {
  const { result, texts } = await streamed("printf 'a\\xe2'; sleep .2; printf '\\x80\\x94b'");
  expect(texts).toEqual(['a', '—b']);
  expect(printed(result)).toBe('a—b');
  expect(result.output.lossy).toBe(false);
});

test('C1: a character that never becomes whole is delivered at the end', async () => {
  const { result, texts } = await streamed("printf 'a\\xe2\\x80'");
  expect(texts).toEqual(['a', '\uFFFD']);
  expect(printed(result)).toBe('a\uFFFD');
  expect(result.output.lossy).toBe(true);
});

test('C2: output is cut between characters, and counted exactly', async () => {
  const command = `python3 -c "print('中'*40000)"`;
  const limits = { headBytes: 12_500, tailBytes: 12_500 };
  const { output } = await run(command, limits);
  expect(output).toEqual({
    kind: 'cut',
    head: '中'.repeat(4166),
    tail: `${'中'.repeat(4166)}\n`,
    total: { bytes: 120_001, characters: 40_001, lines: 1 },
    dropped: {
      bytes: 120_001 - 2 * 4166 * 3 - 1,
      characters: 40_001 - 2 * 4166 - 1,
      lines: 0,
    },
    lastLineBytes: 120_000,
    lossy: false,
  });
});

test('C3: bytes that are not UTF-8 are replaced in the text and exact in the spill file', async () => {
  const spill = folder.file('bytes');
  const result = await run("printf 'a\\x80b'", { spill });
  expect(printed(result)).toBe('a\uFFFDb');
  expect(result.output.lossy).toBe(true);
  expect(result.output.total).toEqual({ bytes: 3, characters: 3, lines: 1 });
  expect(result.spill).toEqual({ path: spill, bytes: 3, dropped: 0 });
  expect([...readFileSync(spill)]).toEqual([0x61, 0x80, 0x62]);
});

test('C4: NUL is delivered as its symbol, which JSON and databases carry', async () => {
  const spill = folder.file('nul');
  const { result, texts } = await streamed("printf 'a\\0b'");
  expect(printed(result)).toBe('a␀b');
  expect(texts.join('')).toBe('a␀b');
  expect(result.output.lossy).toBe(true);
  expect(result.output.total).toEqual({ bytes: 3, characters: 3, lines: 1 });
  await run("printf 'a\\0b'", { spill });
  expect([...readFileSync(spill)]).toEqual([0x61, 0, 0x62]);
});

test('C5: one long line is cut, and a notice says how long it was', async () => {
  const tool = newTool();
  const command = "head -c 120000 /dev/zero | tr '\\0' x";
  const text = await answerTo(tool, { command });
  const [output = '', ...notices] = text.split('\n\n');
  expect(output).toBe('x'.repeat(50 * 1024));
  expect(notices.join('\n')).toContain(
    '[Showing last 50.0KB of line 1 (line is 117.2KB). Read artifact://0 for full output: head -c 40000 artifact://0]',
  );
});

test('C6: run() keeps carriage returns', async () => {
  const result = await run("printf 'start\\rone\\rtwo\\n'");
  expect(printed(result)).toBe('start\rone\rtwo\n');
});

test('C6: of a redrawn line the last frame is shown, and CRLF is a newline', async () => {
  const tool = newTool({ minimizer: true });
  expect(await answerTo(tool, { command: "printf 'start\\rone\\rtwo\\n'" })).toMatch(/^two\n\n/);
  const command = "for i in $(seq 1000); do printf '%d%%\\r' $i; done";
  expect(await answerTo(tool, { command })).toMatch(/^1000%\n\n/);
  expect(await answerTo(tool, { command: "printf 'a\\r\\nb\\r\\n'" })).toMatch(/^a\nb\n\n/);
});

test('C7: escape sequences are removed, whole or in pieces, and no text with them', async () => {
  const tool = newTool({ minimizer: true });
  const split = "printf '\\033[3'; sleep .1; printf '1mred\\033[0m\\n'";
  expect(await answerTo(tool, { command: split })).toMatch(/^red\n\n/);
  const link = "printf '\\033]8;;https://example.com/(a)\\033\\\\text\\033]8;;\\033\\\\\\n'";
  expect(await answerTo(tool, { command: link })).toMatch(/^text\n\n/);
  const open = "printf 'a\\033[3\\nfollows\\n'; printf 'b\\033'; printf 'after\\n'";
  expect(await answerTo(tool, { command: open })).toMatch(/^a\nfollows\nbafter\n\n/);
});

test('C8: merged streams are in the order in which they were written', async () => {
  const result = await run('for i in 1 2 3; do echo o$i; echo e$i >&2; done');
  expect(printed(result)).toBe('o1\ne1\no2\ne2\no3\ne3\n');
});

test('C8: separate streams are kept apart', async () => {
  const command = 'for i in 1 2 3; do echo o$i; echo e$i >&2; done';
  const chunks: OutputChunk[] = [];
  const onOutput = (chunk: OutputChunk) => chunks.push(chunk);
  const result = await run(command, { streams: 'separate', onOutput });
  expect(result.stdout).toMatchObject({ kind: 'complete', text: 'o1\no2\no3\n' });
  expect(result.stderr).toMatchObject({ kind: 'complete', text: 'e1\ne2\ne3\n' });
  expect(result).not.toHaveProperty('output');
  const printedOn = (stream: string) => {
    return chunks.flatMap((chunk) => (chunk.stream === stream ? [chunk.text] : [])).join('');
  };
  expect(printedOn('stdout')).toBe('o1\no2\no3\n');
  expect(printedOn('stderr')).toBe('e1\ne2\ne3\n');
});

test('C9: the last line on stderr is visible after 100,000 lines on stdout', async () => {
  const command = 'seq 1 100000; echo FATAL >&2; exit 1';
  const result = await run(command);
  expect(result.outcome).toEqual(exited(1));
  expect(result.output.kind === 'cut' && result.output.tail).toMatch(/\n100000\nFATAL\n$/);
  expect(result.output.total).toEqual({ bytes: 588_901, characters: 588_901, lines: 100_001 });
  const answer = await newTool().execute({ command });
  expect(textOf(answer)).toMatch(/\n100000\nFATAL\n\n/);
  expect(answer.isError).toBe(true);
});

test('C10: forty kilobytes are not cut', async () => {
  const command = `for i in $(seq 1 200); do printf 'Line %03d: %-200s\\n' $i ''; done`;
  const answer = await newTool().execute({ command });
  expect(answer.details).not.toHaveProperty('meta');
  const lines = textOf(answer).split('\n\n')[0]?.split('\n') ?? [];
  expect(lines).toHaveLength(200);
  expect(lines[0]).toBe(`Line 001: ${' '.repeat(200)}`);
});

test('C11: nothing is added to output that has no final newline', async () => {
  const result = await run('printf noeol');
  expect(printed(result)).toBe('noeol');
  expect(result.output.total).toEqual({ bytes: 5, characters: 5, lines: 1 });
});

test('C12: bytes pass unchanged through another locale', async () => {
  const spill = folder.file('locale');
  const result = await run("LC_ALL=C printf 'é'", { spill });
  expect(printed(result)).toBe('é');
  expect(result.output).toMatchObject({ lossy: false, total: { bytes: 2, characters: 1 } });
  expect([...readFileSync(spill)]).toEqual([0xc3, 0xa9]);
});

test('C12: bytes pass unchanged in a host with no locale', async () => {
  const result = await run("printf 'é中😀' | cat", { inheritEnv: 'none' });
  expect(printed(result)).toBe('é中😀');
});
