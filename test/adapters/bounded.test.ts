import { expect, test } from 'vitest';
import { toAiTools } from '../../src/adapters/ai-sdk/index.js';
import { createBash20250124, toRunnableTools } from '../../src/adapters/anthropic/index.js';
import { toCallableTool } from '../../src/adapters/genai/index.js';
import { toLangChainTools } from '../../src/adapters/langchain/index.js';
import { toAgentTools } from '../../src/adapters/openai/index.js';
import { toPiTools } from '../../src/adapters/pi/index.js';
import { type BashTool, createBashTool, InputError } from '../../src/index.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

type Bound = { readonly maxTextBytes?: number };

/** What a model reads of a call, by the adapter. */
const READ: Readonly<
  Record<string, (tool: BashTool, input: { command: string }, bound?: Bound) => Promise<string>>
> = {
  'ai-sdk': async (tool, input, bound) => {
    const { bash } = toAiTools(tool, bound);
    const output = await bash?.execute(input, {});
    if (output === undefined || !('text' in output)) throw new Error('no output');
    return bash?.toModelOutput({ output }).value ?? '';
  },
  'ai-sdk, streamed': async (tool, input, bound) => {
    const { bash } = toAiTools(tool, { ...bound, stream: true });
    let text = '';
    const outputs = bash?.execute(input, {}) as AsyncIterable<{ text: string }>;
    for await (const each of outputs) text = each.text;
    return text;
  },
  langchain: async (tool, input, bound) =>
    String(await toLangChainTools(tool, bound)[0]?.invoke(input)),
  genai: async (tool, input, bound) => {
    const [part] = await toCallableTool(tool, bound).callTool([{ name: 'bash', args: input }]);
    return Object.values(part?.functionResponse.response ?? {}).join('');
  },
  pi: async (tool, input, bound) => {
    const answer = toPiTools(tool, bound)[0]?.execute('call', input);
    return answer?.then(
      ({ content }) => content[0]?.text ?? '',
      ({ message }) => message,
    );
  },
  anthropic: async (tool, input, bound) => {
    const answer = toRunnableTools(tool, bound)[0]?.run(input) as Promise<string>;
    return answer.catch(({ message }) => message);
  },
  openai: async (tool, input, bound) => {
    const [made] = await toAgentTools(tool, bound);
    if (made?.type !== 'function') throw new Error('no function');
    return String(await made.invoke({} as never, JSON.stringify(input)));
  },
};

const plainTool = () => keep(createBashTool({ contract: 'plain', cwd: folder.path }));

const LONG = 'seq -f "line %.0f" 200000; seq -f "error %.0f" 100000 >&2; exit 3';

test.each(Object.entries(READ))(
  'I15: what %s gives of `plain` to a model is valid JSON of 64 KiB at most, which says what is missing',
  async (_, read) => {
    const text = await read(plainTool(), { command: LONG });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
    expect(Buffer.byteLength(text)).toBeGreaterThan(64_000);
    const { stdout, stderr, exitCode } = JSON.parse(text);
    expect(exitCode).toBe(3);
    for (const [stream, word] of [
      [stdout, 'line'],
      [stderr, 'error'],
    ]) {
      const [head = '', size, lines, tail = ''] =
        /^(.*?)\[… (\S+) of 1\.0MB, ([\d,]+) lines, not shown …\]\n(.*)$/s.exec(stream)?.slice(1) ??
        [];
      expect(head.startsWith(`${word} 1\n`)).toBe(true);
      expect(size).toMatch(/^9\d\d\.\dKB$/);
      const kept = head.split('\n').length + tail.split('\n').length;
      expect(Number(lines?.replaceAll(',', '')) + kept).toBeGreaterThan(60_000);
    }
  },
);

test.each(Object.entries(READ))('I15: the bound of %s is an option', async (_, read) => {
  const plain = plainTool();
  const command = 'seq 10000';
  const whole = await read(plain, { command }, { maxTextBytes: 1_000_000 });
  expect(JSON.parse(whole).stdout).toMatch(/^1\n2\n.*\n9999\n10000\n$/s);
  expect(whole).toBe(await read(plain, { command }));
  const short = await read(plain, { command }, { maxTextBytes: 2048 });
  expect(Buffer.byteLength(short)).toBeLessThanOrEqual(2048);
  expect(JSON.parse(short).stdout).toMatch(/^1\n2\n.*not shown …\]\n.*\n10000\n$/s);
  await expect(async () => read(plain, { command }, { maxTextBytes: 1000 })).rejects.toThrow(
    new InputError('maxTextBytes: expected a whole number from 1024, got 1000'),
  );
});

test('I15: an answer of another contract has the same bound, and is no JSON of fields', async () => {
  const modes = keep(createBashTool({ contract: 'session', cwd: folder.path }));
  const command = `printf '{"stdout":"'; head -c 20000 /dev/zero | tr '\\0' x; printf '"}'`;
  const text = await READ.genai?.(modes, { command }, { maxTextBytes: 4096 });
  expect(text).toMatch(
    /^\{"stdout":"x+\n\[… \d+\.\dKB of \d+\.\dKB, 0 lines, not shown …\]\nx+"\}/,
  );
  expect(await READ.genai?.(modes, { command })).toBe((await modes.answer({ command })).text);
});

test('I15: binary output, quotes and characters of four bytes are not cut in the middle', async () => {
  const command = `for i in $(seq 3000); do printf '"\\\\\\360\\237\\230\\200'; done`;
  const text = (await READ.pi?.(plainTool(), { command }, { maxTextBytes: 4096 })) ?? '';
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
  expect(JSON.parse(text).stdout).toMatch(
    /^(?:"\\😀)+"?\\?\n\[… \S+ of 17\.6KB, 0 lines, not shown …\]\n\\?(?:😀)?(?:"\\😀)+$/u,
  );
});

test('I15: createBash20250124() has the same bound, and an option', async () => {
  await using bash = createBash20250124({
    cwd: folder.path,
    maxTextBytes: 2048,
  });
  const text = String(await bash.run({ command: 'seq 5000' }));
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2048);
  expect(text).toMatch(/^1\n2\n.*not shown …\]\n.*5000/s);
});
