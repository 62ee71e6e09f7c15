import { expect, test } from 'vitest';
import { CONTRACT_NAMES } from '../../src/index.js';
import { answerOf, useClients } from '../support/mcp.js';

const clients = useClients();

test.each(['legacy', 'auto'] as const)('an official client lists and calls (%s)', async (mode) => {
  const client = await clients.stdio([], { versionNegotiation: { mode } });
  expect(client.getServerVersion()).toMatchObject({ name: 'forkline' });
  expect(client.getInstructions()).toContain('shell commands');
  const { tools } = await client.listTools();
  expect(tools).toMatchObject([
    {
      name: 'bash',
      title: 'Bash',
      inputSchema: { type: 'object', required: ['command'] },
      annotations: {
        title: 'Bash',
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    { name: 'job' },
  ]);
  const result = await client.callTool({ name: 'bash', arguments: { command: 'echo hi' } });
  expect(answerOf(result)).toMatch(/^hi\n/);
  expect(result.isError).toBeUndefined();
});

test('progress is the new output, in order, and the result is complete', async () => {
  const client = await clients.stdio();
  const notes: { progress: number; message?: string | undefined }[] = [];
  const result = await client.callTool(
    { name: 'bash', arguments: { command: 'for i in 1 2 3; do echo $i; sleep 0.2; done' } },
    { onprogress: (note) => notes.push(note) },
  );
  expect(notes.length).toBeGreaterThan(1);
  expect(notes.map(({ message }) => message).join('')).toBe('1\n2\n3\n');
  const counts = notes.map(({ progress }) => progress);
  expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
  expect(answerOf(result)).toMatch(/^1\n2\n3\n/);
});

test('a command that fails is a result that says so', async () => {
  const client = await clients.stdio();
  const result = await client.callTool({ name: 'bash', arguments: { command: 'exit 3' } });
  expect(result.isError).toBe(true);
  expect(answerOf(result)).toContain('exited with code 3');
});

test.each([
  [{}, 'command: expected a string, got nothing'],
  [{ command: 'true', nonsense: 1 }, 'nonsense: not known here'],
  [{ command: ' ' }, 'command: expected a shell command'],
])('input that is wrong is a result that the model can read: %j', async (input, text) => {
  const client = await clients.stdio();
  const result = await client.callTool({ name: 'bash', arguments: input });
  expect(result.isError).toBe(true);
  expect(answerOf(result)).toContain(text);
});

test('a tool that is not there is a protocol error', async () => {
  const client = await clients.stdio();
  const call = client.callTool({ name: 'python', arguments: {} });
  await expect(call).rejects.toMatchObject({ code: -32602, message: /Unknown tool: python/ });
});

test('calls made at once are all answered, each with its own output', async () => {
  const client = await clients.stdio();
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const command = `echo answer ${index}`;
      return answerOf(await client.callTool({ name: 'bash', arguments: { command } }));
    }),
  );
  answers.forEach((answer, index) => {
    expect(answer).toMatch(new RegExp(`^answer ${index}\n`));
  });
});

test('--timeout is for calls that ask for none, --cwd and --env for all', async () => {
  const args = ['--timeout', '1', '--cwd', '/usr', '--env', 'GREETING=hello'];
  const client = await clients.stdio(args);
  const late = await client.callTool({
    name: 'bash',
    arguments: { command: 'echo $GREETING from $PWD; sleep 30' },
  });
  expect(late.isError).toBe(true);
  expect(answerOf(late)).toMatch(/^hello from \/usr\n[\s\S]*timed out after 1 second/);
  const inTime = await client.callTool({
    name: 'bash',
    arguments: { command: 'sleep 1.5; echo done', timeout: 20 },
  });
  expect(answerOf(inTime)).toContain('done\n');
});

test.each(CONTRACT_NAMES)('the %s contract is served, and told of --timeout', async (contract) => {
  const client = await clients.stdio(['--contract', contract, '--timeout', '1']);
  await client.listTools();
  const hi = await client.callTool({ name: 'bash', arguments: { command: 'echo hi' } });
  expect(answerOf(hi)).toContain('hi');
  const late = await client.callTool({ name: 'bash', arguments: { command: 'sleep 30' } });
  expect(answerOf(late)).toMatch(/timed out|timeout/i);
});
