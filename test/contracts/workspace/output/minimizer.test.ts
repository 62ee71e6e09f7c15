import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type ArtifactStore,
  createArtifactStore,
  createLineFilter,
  type OutputFilter,
  type ToolError,
  type ToolResult,
} from '../../../../src/index.js';
import { printBytes } from '../../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { failureOf } from '../../../support/results.js';
import { answerTo, textOf, useWorkspaceTools } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newTool = useWorkspaceTools(folder);

const noise = createLineFilter({
  name: 'mine',
  noise: [{ what: 'noise', pattern: /^noise \d+$/ }],
});
const minimizer = { filters: [noise] };
/** Prints so many lines of noise, numbered. */
const noiseOf = (count: number) => `for i in $(seq ${count}); do echo "noise $i"; done`;
const noiseText = (count: number) =>
  Array.from({ length: count }, (_, index) => `noise ${index + 1}\n`).join('');

async function rawOf(tool: { readonly artifacts: ArtifactStore | undefined }, id = '0') {
  return Buffer.from((await tool.artifacts?.read(id)) ?? []).toString();
}

test('output is as it is unless the option is on', async () => {
  const text = await answerTo(newTool(), { command: "printf '\\033[31mred\\033[0m\\n'" });
  expect(text).toContain('\x1b[31mred');
});

test('shortened output ends with where the raw one is', async () => {
  const tool = newTool({ minimizer });
  const command = `echo first; ${noiseOf(40)}; echo last`;
  const result = await tool.execute({ command });
  expect(textOf(result)).toMatch(
    /^first\n\[… 40 lines left out: noise …\]\nlast\n\nWall time: \S+ seconds\n\[raw output: artifact:\/\/0\]$/,
  );
  const raw = `first\n${noiseText(40)}last\n`;
  expect(result.details.meta).toEqual({
    minimizer: {
      filters: ['mine'],
      inputBytes: raw.length,
      outputBytes: Buffer.byteLength('first\n[… 40 lines left out: noise …]\nlast\n'),
      artifactId: '0',
    },
  });
  expect(await rawOf(tool)).toBe(raw);
  expect(await tool.artifacts?.find('0')).toMatchObject({
    tool: 'bash-original',
    path: expect.stringMatching(/\/0\.bash-original\.log$/),
  });
});

test('output that nothing is taken from has no footer and makes no file', async () => {
  const tool = newTool({ minimizer: true });
  const result = await tool.execute({ command: 'echo hello' });
  expect(textOf(result)).toMatch(/^hello\n\nWall time: \S+ seconds$/);
  expect(result.details).not.toHaveProperty('meta');
  expect(await tool.artifacts?.list()).toEqual([]);
});

test('a failing command ends with its exit code', async () => {
  const result = await newTool({ minimizer }).execute({
    command: `${noiseOf(40)}; echo 'error: no'; exit 3`,
  });
  expect(textOf(result)).toMatch(
    /^\[… 31 lines left out: noise …\]\nnoise 32\n(?:noise \d+\n)*noise 40\nerror: no\n\nWall time: .*\n\[raw output: artifact:\/\/0\]\n\nCommand exited with code 3$/,
  );
  expect(result.isError).toBe(true);
});

test('a command that timed out or was cancelled is shortened as well', async () => {
  const tool = newTool({ minimizer });
  const command = `${noiseOf(40)}; sleep 60`;
  const timedOut = (await failureOf(tool.execute({ command, timeout: 1 }))) as ToolError;
  expect(timedOut.message).toMatch(
    /^\[… 30 lines left out: noise …\]\nnoise 31\n(?:noise \d+\n)*noise 40\n\n\[raw output: artifact:\/\/0\]\n\nCommand timed out after 1 second\nFor more time, .*\.$/,
  );
  expect(timedOut.details).toMatchObject({ meta: { minimizer: { artifactId: '0' } } });
  const controller = new AbortController();
  const cancelled = await failureOf(
    tool.execute({ command }, { signal: controller.signal, onOutput: () => controller.abort() }),
  );
  expect(String(cancelled)).toContain('Command cancelled');
});

test('more of a long output is shown, with the line numbers of the raw one', async () => {
  const tool = newTool({ minimizer, tailBytes: 200 });
  const command = `seq 1 100; ${noiseOf(1000)}; echo 'error: at line 1101'; ${noiseOf(500)}; echo end`;
  const result = await tool.execute({ command });
  const text = textOf(result);
  expect(text).toContain(
    '\n100\n[… 999 lines left out: noise …]\nnoise 1000\nerror: at line 1101\n[… 500 lines left out: noise …]\nend\n',
  );
  const shown =
    /\[Showing lines (\d+)-1602 of 1602 \(200B limit\)\. Read artifact:\/\/0 for full output: sed/;
  const start = Number(shown.exec(text)?.[1]);
  // The first line that is shown stands on that line of the raw output.
  expect(text.split('\n')[0]).toBe(String(start));
  expect((await rawOf(tool)).split('\n')[start - 1]).toBe(String(start));
  expect(result.details.meta).toMatchObject({
    truncation: { totalLines: 1602, artifactId: '0', shownRange: { start, end: 1602 } },
    minimizer: { artifactId: '0' },
  });
  expect(await tool.artifacts?.find('0')).toMatchObject({ tool: 'bash-original' });
});

test('with a head, both ranges and the hole count lines of the raw output', async () => {
  const tool = newTool({ minimizer, headBytes: 60, tailBytes: 60 });
  const text = await answerTo(tool, {
    command: `echo first; ${noiseOf(100)}; seq 102 301; ${noiseOf(50)}; echo last`,
  });
  const head = 'first\n[… 100 lines left out: noise …]\n102\n103\n104\n';
  expect(text.startsWith(head)).toBe(true);
  expect(text).toContain('301\n[… 50 lines left out: noise …]\nlast\n');
  const ranges = /\[Showing lines 1-(\d+) and (\d+)-352 of 352/.exec(text);
  const [, end = 0, start = 0] = ranges?.map(Number) ?? [];
  expect(text).toContain(`\n${end}\n[… ${start - end - 1} lines elided`);
  expect(text).toContain(`…]\n${start}\n`);
});

test('of output that is longer than its window, the end is shortened and the numbers are right', async () => {
  const tool = newTool({ minimizer: { ...minimizer, maxInputBytes: 4000 }, tailBytes: 1000 });
  const text = await answerTo(tool, { command: `${noiseOf(5000)}; echo last` });
  const { out, start } =
    /^\[… (?<out>[\d,]+) lines left out: noise …\]\nlast\n\n\[Showing lines (?<start>\d+)-5001 of 5001 \(3\.9KB limit\)/.exec(
      text,
    )?.groups ?? {};
  expect(Number(start) + Number(out?.replaceAll(',', ''))).toBe(5001);
  expect(await rawOf(tool)).toBe(`${noiseText(5000)}last\n`);
});

test.each([
  ['seq 1 20000', {}],
  ['seq 1 20000', { headBytes: 2000 }],
  ['seq 1 400000', {}],
  ['seq 1 400000', { headBytes: 2000, tailBytes: 3000 }],
  ["head -c 1300000 /dev/zero | tr '\\0' x; echo; seq 3", {}],
  ["seq 3; head -c 1300000 /dev/zero | tr '\\0' x", { headBytes: 2000 }],
])('long output without noise is cut as ever: %s, %j', async (command, options) => {
  const cut = await answerTo(newTool({ ...options, minimizer: true }), { command });
  expect(cut).toBe(await answerTo(newTool(options), { command }));
  expect(cut).toContain('[Showing ');
});

test('with a head, the ends of output that is longer than it looks at are shortened', async () => {
  const tool = newTool({
    minimizer: { maxInputBytes: 8000, ...minimizer },
    headBytes: 900,
    tailBytes: 900,
  });
  const text = await answerTo(tool, { command: `echo first; ${noiseOf(5000)}; echo last` });
  const numbers =
    /^first\n\[… (.+) lines left out: noise …\]\n\[… (.+) lines elided \(.*\) …\]\n\[… (.+) lines left out: noise …\]\nlast\n\n\[Showing lines 1-(.+) and (.+)-5002 of 5002 \(3\.9KB \+ 3\.9KB limit\)/
      .exec(text)
      ?.slice(1)
      .map((number) => Number(number.replaceAll(',', '')));
  const [out = 0, elided = 0, outAtEnd = 0, end = 0, start = 0] = numbers ?? [];
  expect(1 + out + elided + outAtEnd + 1).toBe(5002);
  expect(end).toBe(1 + out);
  expect(start).toBe(end + elided + 1);
});

test('one endless line of progress becomes its last frame', async () => {
  const tool = newTool({ minimizer: true });
  const text = await answerTo(tool, {
    command: "for i in $(seq 1 300000); do printf '%d%%\\r' $i; done",
    timeout: 60,
  });
  expect(text).toMatch(
    /^300000%\n\n\[Showing last 7B of line 1 \(line is 2\.\dMB\)\. Read artifact:\/\/0/,
  );
});

const lossless: readonly [string, () => ArtifactStore | false][] = [
  ['there is no store', () => false],
  [
    'the store fails',
    () => ({
      ...createArtifactStore(),
      draft: () => Promise.reject(new Error('no room')),
      save: () => Promise.reject(new Error('no room')),
      dispose: async () => {},
    }),
  ],
  [
    'the store keeps a part only',
    () => createArtifactStore({ directory: join(folder.path, 'small'), maxBytes: 50 }),
  ],
];

test.each(lossless)('no line is left out when %s', async (_, store) => {
  const tool = newTool({ minimizer, artifacts: store() });
  const result = await tool.execute({
    command: `printf '\\033[1mfirst\\033[0m\\n'; ${noiseOf(40)}`,
  });
  expect(textOf(result)).toContain(`first\n${noiseText(40)}`);
  expect(textOf(result)).not.toContain('[raw output');
  expect(result.details.meta?.minimizer).toEqual({
    filters: ['terminal'],
    inputBytes: expect.any(Number),
    outputBytes: expect.any(Number),
  });
});

test('no line is left out when short output has bytes that are not text, and details say why', async () => {
  const tool = newTool({ minimizer });
  const bytes = printBytes(Uint8Array.of(0x1b, 0x5b, 0x31, 0x6d, 0x80, 0x0a));
  const result = await tool.execute({ command: `${bytes}; ${noiseOf(40)}` });
  expect(textOf(result)).toContain(`\uFFFD\n${noiseText(40)}`);
  expect(result.details).toMatchObject({ artifactError: 'its bytes are not all text' });
});

test('a filter that throws fails no command, and is reported once', async () => {
  const warnings: string[] = [];
  const broken: OutputFilter = {
    name: 'broken',
    filter() {
      throw new Error('no idea');
    },
  };
  const logger = { warn: (message: string) => warnings.push(message) };
  const tool = newTool({ minimizer: { filters: [broken, noise] }, logger });
  for (const id of ['0', '1']) {
    const text = await answerTo(tool, { command: noiseOf(40) });
    expect(text).toMatch(new RegExp(`^\\[… 40 lines left out: noise …\\][^]*artifact://${id}\\]$`));
  }
  expect(warnings).toEqual(['Output filter broken was not applied: no idea']);
});

test('filters are told the command as it is run', async () => {
  const commands: string[] = [];
  const spy: OutputFilter = {
    name: 'spy',
    applies: (command) => commands.push(command) === 0,
    filter: () => [],
  };
  await newTool({ minimizer: { filters: [spy] } }).execute({ command: 'cd . && echo hi' });
  expect(commands).toEqual(['echo hi']);
});

test('updates are clean and have every line; chunks are raw', async () => {
  const updates: string[] = [];
  const chunks: string[] = [];
  const tool = newTool({ minimizer });
  await tool.execute(
    { command: `printf '\\033[31m1%%\\r2%%\\033[0m\\n'; ${noiseOf(20)}; sleep .3` },
    {
      onUpdate: (update: ToolResult<unknown>) => updates.push(textOf(update)),
      onOutput: ({ text }) => chunks.push(text),
    },
  );
  expect(updates.at(-1)).toBe(`2%\n${noiseText(20)}`);
  expect(chunks.join('')).toBe(`\x1b[31m1%\r2%\x1b[0m\n${noiseText(20)}`);
});

test('a job is shortened as any command', async () => {
  const tool = newTool({ minimizer, async: true });
  await tool.execute({ command: `${noiseOf(40)}; echo done`, async: true });
  const answer = await tool.job?.execute({ poll: ['bg_1'] });
  expect(answer && textOf(answer)).toMatch(
    /\[… 40 lines left out: noise …\]\ndone\n\nWall time: .*\n\[raw output: artifact:\/\/0\]/,
  );
});

test('output of nothing but escape sequences is no output', async () => {
  const text = await answerTo(newTool({ minimizer: true }), {
    command: "printf '\\033[2J\\033[H'",
  });
  expect(text).toMatch(/^\(no output\)\n\n/);
});
