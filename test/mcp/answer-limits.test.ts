import { existsSync, readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type BashToolOptions,
  CONTRACT_NAMES,
  type ContractName,
  createBashTool,
} from '../../src/index.js';
import { createMcpServer } from '../../src/mcp/index.js';
import { answerOf, useClients } from '../support/mcp.js';
import { toolOf } from '../support/mcp-tool.js';

const clients = useClients();
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A client of this name, connected to a server of this tool. */
async function connected(name: string, tool = toolOf('bash', async () => ({}))): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = createMcpServer(tool);
  const client = new Client({ name, version: '1.0.0' });
  open.push(
    () => tool.dispose(),
    () => server.close(),
    () => client.close(),
  );
  await server.connect(ours);
  await client.connect(theirs);
  return client;
}

const toolOfContract = (contract: ContractName) =>
  createBashTool({ contract, cwd: '/', graceMs: 200 } as BashToolOptions);

/** What clients show a model at most, by their names: UTF-16 units, bytes, lines. */
const LIMITS = [
  ['claude-code', 50_000, Infinity, Infinity],
  ['codex-mcp-client', Infinity, 40_000, Infinity],
  ['gemini-cli-mcp-client', 40_000, Infinity, Infinity],
  ['qwen-cli-mcp-client-shell', 25_000, Infinity, 1000],
  ['opencode', Infinity, 51_200, 2000],
  ['Visual Studio Code - Insiders', Infinity, 8192, Infinity],
  ['github-copilot-developer', Infinity, 20_000, Infinity],
  ['one that no table has', 40_000, 40_000, Infinity],
] as const;

/** Commands with long output of different kinds; each ends with something to be seen. */
const COMMANDS = [
  'seq 20000; echo the end',
  'seq 400000; seq 400000 >&2; echo the end',
  'yes 漢字テスト | head -c 3000000; echo the end',
  'head -c 300000 /dev/zero | tr "\\0" "\\1"; echo; echo the end',
];

describe.each(LIMITS)('to %s', (name, characters, bytes, lines) => {
  test.each(CONTRACT_NAMES)(
    'I6: no answer of %s is longer than the client shows',
    async (contract) => {
      const client = await connected(name, toolOfContract(contract));
      for (const command of COMMANDS) {
        const text = answerOf(await client.callTool({ name: 'bash', arguments: { command } }));
        expect(text.length).toBeGreaterThan(1000);
        expect(text.length).toBeLessThan(characters);
        expect(Buffer.byteLength(text)).toBeLessThan(bytes);
        expect(text.split('\n').length).toBeLessThan(lines);
      }
    },
  );
});

test('I6: an answer that is cut has both ends, counts the rest, and is whole in a file', async () => {
  const whole = Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join('\n');
  const content = [{ type: 'text' as const, text: `${whole}\n\nWall time: 1 second` }];
  const client = await connected(
    'claude-code',
    toolOf('bash', async () => ({ content })),
  );
  const text = answerOf(await client.callTool({ name: 'bash', arguments: {} }));
  expect(text).toMatch(/^line 0\nline 1\n/);
  expect(text).toMatch(/\nline 19999\n\nWall time: 1 second$/);
  const [, head = '', count = '', path = '', tail = ''] =
    /^([\s\S]*)\[(.+) characters left out here; the whole answer is in (.+), on the server's machine\]\n([\s\S]*)$/.exec(
      text,
    ) ?? [];
  const all = content[0]?.text ?? '';
  expect(Number(count.replaceAll(',', ''))).toBe(all.length - head.length - tail.length);
  expect(readFileSync(path, 'utf8')).toBe(all);
  // The server goes with its client, and its files with it.
  await open[1]?.();
  expect(existsSync(path)).toBe(false);
});

test('I6: errors and the answers of other tools have the same bound', async () => {
  const client = await connected('Visual Studio Code', toolOfContract('session'));
  const call = async (name: string, input: Record<string, unknown>) =>
    answerOf(await client.callTool({ name, arguments: input }));
  const late = await call('bash', { command: 'seq 5000; sleep 30', timeout: 3000 });
  expect(late.length).toBeLessThan(8192);
  expect(late).toMatch(/^1\n2\n[\s\S]*left out here[\s\S]*3 seconds/);
  const task = await call('bash', { command: 'seq 5000', run_in_background: true });
  const [, task_id = ''] = /task_id: (\S+)/.exec(task) ?? [];
  const output = await call('task_output', { task_id, seconds: 5 });
  expect(output.length).toBeLessThan(8192);
  expect(output).toContain('left out here');
});

test('I6: what a structured answer shows as text has the bound, too', async () => {
  const tool = toolOfContract('session');
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = createMcpServer(tool, { structured: true, maxCharacters: 1000 });
  const client = new Client({ name: 'test', version: '1.0.0' });
  open.push(
    () => tool.dispose(),
    () => server.close(),
    () => client.close(),
  );
  await server.connect(ours);
  await client.connect(theirs);
  const result = await client.callTool({ name: 'bash', arguments: { command: 'seq 2000' } });
  expect(answerOf(result).length).toBeLessThanOrEqual(1000);
  expect((result.structuredContent as { stdout: string }).stdout).toMatch(/\n2000\n$/);
});

/** How each contract says over `forkline mcp` that it has cut an output, and where all of it is. */
const CUT: Readonly<Record<ContractName, RegExp>> = {
  modes: /^\[output truncated in middle: [\s\S]*\n20000\n\[whole output: \/.*\]$/,
  plain: /^\{"stdout":"1\\n[\s\S]*\.\.\. \(truncated\)"/,
  session:
    /^1\n[\s\S]*\[stdout truncated: it has 108,894 characters, of which the first 30,000 are shown\]$/,
  workspace: /\n20000\n[\s\S]*artifact:\/\/0/,
};

test.each(CONTRACT_NAMES)(
  'I6: over forkline mcp, %s cuts long output in its own way',
  async (contract) => {
    const client = await clients.stdio(['--contract', contract]);
    const input = { command: 'seq 20000' };
    const text = answerOf(await client.callTool({ name: 'bash', arguments: input }));
    expect(text).not.toContain('left out here');
    expect(text).toMatch(CUT[contract]);
    expect(text.length).toBeGreaterThan(20_000);
    expect(text.length).toBeLessThan(36_000);
  },
);

test('I6: limits of output that a user gives replace those of forkline mcp', async () => {
  const options = { maxOutputBytes: 10_000 };
  const client = await clients.stdio(['--contract', 'modes', '--options', JSON.stringify(options)]);
  const input = { command: 'seq 20000' };
  const text = answerOf(await client.callTool({ name: 'bash', arguments: input }));
  expect(text).toMatch(/max is 9\.8KB/);
  expect(text.length).toBeLessThan(9000);
});
