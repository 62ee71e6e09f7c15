import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { type CliResult, cli, endOf, startCli, startCliOn } from '../support/cli.js';
import { longSleep, sleeping } from '../support/commands.js';
import { answerOf, useClients } from '../support/mcp.js';
import { eventually } from '../support/processes.js';

const clients = useClients();

/** Starts a server on a port and reads what it says on standard error. */
async function startHttp(...args: readonly string[]) {
  const child = startCli('mcp', '--contract', 'workspace', ...args);
  const end = endOf(child);
  const lines: string[] = [];
  if (child.stderr) createInterface(child.stderr).on('line', (line) => lines.push(line));
  const said = (start: string) =>
    eventually(() => {
      const line = lines.find((each) => each.startsWith(start));
      if (line === undefined) throw new Error(`expected a line that starts with ${start}`);
      return line.slice(start.length);
    });
  return { child, end, lines, said };
}

test('--http prints its URL and its token, and serves', async () => {
  const { child, end, said } = await startHttp('--http');
  const url = await said('forkline: MCP server at ');
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const client = await clients.http(url, await said('forkline: token: '));
  const result = await client.callTool({ name: 'bash', arguments: { command: 'echo hi' } });
  expect(answerOf(result)).toMatch(/^hi\n/);
  const long = client.callTool({ name: 'bash', arguments: { command: longSleep(641) } });
  const failed = expect(long).rejects.toThrow();
  await eventually(() => expect(sleeping(641)).toHaveLength(1));
  await client.transport?.close();
  await failed;
  child.kill('SIGTERM');
  expect((await end).code).toBe(143);
  expect(sleeping(641)).toEqual([]);
});

test('SIGTERM ends the commands of clients that are still there', async () => {
  const { child, end, said } = await startHttp('--http', '--token', 'known');
  const client = await clients.http(await said('forkline: MCP server at '), 'known');
  const call = client.callTool({ name: 'bash', arguments: { command: longSleep(642) } });
  call.catch(() => {});
  await eventually(() => expect(sleeping(642)).toHaveLength(1));
  child.kill('SIGTERM');
  expect((await end).code).toBe(143);
  expect(sleeping(642)).toEqual([]);
});

test('a token from the environment is printed nowhere, and no command learns it', async () => {
  const secret = 'the-secret-of-this-test';
  process.env.FORKLINE_MCP_TOKEN = secret;
  try {
    const { child, end, lines, said } = await startHttp('--http', '--inherit-env', 'all');
    const client = await clients.http(await said('forkline: MCP server at '), secret);
    const command = 'env | grep -c TOKEN; echo done';
    const result = await client.callTool({ name: 'bash', arguments: { command } });
    expect(answerOf(result)).toMatch(/^0\ndone\n/);
    expect(lines.join('\n')).not.toContain(secret);
    child.kill('SIGTERM');
    await end;
  } finally {
    delete process.env.FORKLINE_MCP_TOKEN;
  }
});

test('a port that is taken is reported', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  const { code, stdout, stderr } = await cli('mcp', '--contract', 'workspace', '--http', port);
  taken.close();
  expect(code).toBe(1);
  expect(stdout.toString()).toBe('');
  expect(stderr).toMatch(/^forkline: .*EADDRINUSE.*\n$/);
});

test('E3: a server whose client can’t be written to ends, and says so', async () => {
  const full = openSync('/dev/full', 'w');
  const child = startCliOn(['pipe', full, 'pipe'], 'mcp');
  child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
  const { code, stderr } = await endOf(child);
  closeSync(full);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^forkline: the client can't be written to: ENOSPC: .*\n$/);
});

test('a missing directory is reported at the start', async () => {
  const { code, stdout, stderr } = await cli('mcp', '--cwd', '/no/such/directory');
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^forkline: ENOENT.*\/no\/such\/directory.*\n$/);
});

test.each([
  [['--contract', 'nonsense'], 'Allowed choices are'],
  [['--contract', 'workspace', '--timeout', 'x'], 'Expected a number of seconds'],
  [['--contract', 'workspace', '--http', 'x'], 'Expected a port'],
  [['--contract', 'workspace', '--http', '70000'], 'Expected a port'],
  [['--contract', 'workspace', '--http', '--token', ''], 'token: expected'],
  [['--contract', 'workspace', '--cwd', ''], 'cwd: expected a path'],
  [['--contract', 'workspace', '--inherit-env', 'some'], 'Allowed choices are'],
  [['--token', 'forgotten'], "option '--token' is for a server on a port: add --http"],
  [['--idle', '5'], "option '--idle' is for a server on a port: add --http"],
  [['--label', 'a=b'], "option '--label' is for a fleet: add --fleet"],
  [['--tls-ca', 'x'], "option '--tls-ca' is for a fleet: add --fleet"],
  [['extra'], 'too many arguments'],
  [['--options', 'x'], 'is not valid JSON'],
  [['--options', '[]'], 'Expected a JSON object'],
  [['--options', '{"timeoutMs":"x"}'], 'timeoutMs: expected'],
])('%j is a usage error', async (args, message) => {
  const { code, stdout, stderr }: CliResult = await cli('mcp', ...args);
  expect(code).toBe(2);
  expect(stdout.toString()).toBe('');
  expect(stderr).toContain(message);
});

test('a token in the environment is no reason to listen on a port, or to fail', async () => {
  process.env.FORKLINE_MCP_TOKEN = 'for another server';
  try {
    expect(await cli('mcp')).toMatchObject({ code: 0, stderr: '' });
  } finally {
    delete process.env.FORKLINE_MCP_TOKEN;
  }
});

test('an empty standard input is a client that has gone', async () => {
  expect(await cli('mcp', '--contract', 'workspace')).toMatchObject({ code: 0, stderr: '' });
});

test('F7: --options takes options of the contract, and single options override them', async () => {
  const options = { async: true, cwd: '/usr', timeout: { default: 100, max: 7 }, env: { A: 'b' } };
  const args = ['--options', JSON.stringify(options), '--cwd', '/', '--timeout', '5'];
  const client = await clients.stdio(args);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['bash', 'job']);
  expect(JSON.stringify(tools[0]?.inputSchema)).toContain('async');
  const result = await client.callTool({
    name: 'bash',
    arguments: { command: 'echo $PWD $A', timeout: 60 },
  });
  expect(answerOf(result)).toMatch(/^\/ b\n.*clamped to 7s/s);
});

test('flags for the sandbox change a policy of --options, and leave the rest of it', async () => {
  const server = createServer((socket) => socket.end('reached\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const options = { sandbox: { filesystem: { denyRead: ['/usr/share'] } } };
  const flags = ['--sandbox', 'read-only', '--reach', `8125:${port}`];
  const client = await clients.stdio([
    '--options',
    JSON.stringify(options),
    '--cwd',
    '/',
    ...flags,
  ]);
  const command = 'ls /usr/share 2>/dev/null | wc -l; cat </dev/tcp/127.0.0.1/8125';
  const result = await client.callTool({ name: 'bash', arguments: { command } });
  server.close();
  expect(answerOf(result)).toMatch(/^0\nreached\n/);
});

test('a sandbox of --options that cannot be had is reported at the start', async () => {
  const sandbox = { gpgAgent: { socket: 'not-absolute' } };
  const { code, stderr } = await cli('mcp', '--options', JSON.stringify({ sandbox }));
  expect(code).toBe(2);
  expect(stderr).toContain('sandbox.gpgAgent.socket: expected an absolute path');
});

test.each([
  [[], false],
  [['--structured'], true],
] as const)('I5: with %j there is structure beside the text: %s', async (flags, given) => {
  const client = await clients.stdio(['--contract', 'session', ...flags]);
  const { tools } = await client.listTools();
  expect(tools.map((tool) => 'outputSchema' in tool)).toEqual(tools.map(() => given));
  const result = await client.callTool({ name: 'bash', arguments: { command: 'echo hi' } });
  expect('structuredContent' in result).toBe(given);
  expect(answerOf(result)).toContain('hi');
});

test('I5: --no-structured is refused, since it says what is the default', async () => {
  const { code, stderr } = await cli('mcp', '--no-structured');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "error: unknown option '--no-structured': answers are text alone by default\n",
  });
});

test('I6: --max-characters is for every client, declared, and at least what a note needs', async () => {
  const client = await clients.stdio(['--contract', 'session', '--max-characters', '2000']);
  const { tools } = await client.listTools();
  const declared = tools.map(({ _meta }) => _meta?.['anthropic/maxResultSizeChars']);
  expect(declared).toEqual(tools.map(() => 2000));
  const result = await client.callTool({ name: 'bash', arguments: { command: 'seq 9999' } });
  expect(answerOf(result)).toMatch(/^1\n2\n[\s\S]*characters left out here[\s\S]*are shown\]$/);
  expect(answerOf(result).length).toBeLessThanOrEqual(2000);
  const { code, stderr } = await cli('mcp', '--max-characters', '999');
  expect(code).not.toBe(0);
  expect(stderr).toContain('maxCharacters: expected a whole number from 1000, got 999');
});

test('help names the options', async () => {
  const { code, stdout } = await cli('mcp', '--help');
  expect(code).toBe(0);
  for (const option of ['--contract', '--timeout', '--cwd', '--log', '--http', '--token']) {
    expect(stdout.toString()).toContain(option);
  }
});
