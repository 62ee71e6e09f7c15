import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import { cli, program } from '../support/cli.js';
import { longSleep, sleeping } from '../support/commands.js';
import { makeFolder } from '../support/leftovers.js';
import { startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';

/** The lease of `connectFleet()` by default. */
const LEASE_MS = 20_000;

describe('an MCP server of a fleet', where(installed('nats-server')), async () => {
  const nats = await useNats(makeFolder());

  test('has its tool on a worker, and ends what runs there with its client', async () => {
    await startWorker(nats.url, ['--label', 'gpu=a100']);
    const client = new Client({ name: 'test', version: '1' });
    const args = [program, 'mcp', '--fleet', nats.url, '--label', 'gpu=a100', '--cwd', '/usr'];
    await client.connect(new StdioClientTransport({ command: process.execPath, args }));
    const call = (name: string, given: Record<string, unknown>) =>
      client.callTool({ name, arguments: given });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('task_output');
    expect(await call('bash', { command: 'pwd' })).toMatchObject({
      content: [{ text: expect.stringContaining('/usr') }],
    });
    await call('bash', { command: longSleep(199), run_in_background: true });
    await eventually(() => expect(sleeping(199)).toHaveLength(1));
    await client.close();
    await eventually(() => expect(sleeping(199)).toEqual([]));
  });

  test('tells a call that its worker was lost, and has a new session for the next', async () => {
    const worker = await startWorker(nats.url, ['--label', 'of=two']);
    const client = new Client({ name: 'test', version: '1' });
    const args = [program, 'mcp', '--fleet', nats.url, '--label', 'of=two', '--structured'];
    args.push('--cwd', '/tmp');
    await client.connect(new StdioClientTransport({ command: process.execPath, args }));
    const bash = (command: string) => client.callTool({ name: 'bash', arguments: { command } });
    await client.listTools();
    await bash('cd /usr');
    const running = bash(longSleep(200));
    await eventually(() => expect(sleeping(200)).toHaveLength(1));
    await startWorker(nats.url, ['--label', 'of=two']);
    worker.child.kill('SIGKILL');
    expect(await running).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('its worker was lost') }],
    });
    const lost = /^The worker of this session was lost, and with it went its directory, tasks .*$/;
    const next = await bash('pwd');
    const [first] = next.content;
    const text = first?.type === 'text' ? first.text : '';
    expect(text.split('\n')).toEqual([expect.stringMatching(lost), '', '/tmp']);
    expect(next.structuredContent).toMatchObject({
      stdout: '/tmp\n',
      notices: [expect.stringMatching(lost)],
    });
    expect(await bash('pwd')).toMatchObject({ content: [{ text: '/tmp' }] });
    expect(sleeping(200)).toEqual([]);
    await client.close();
  });

  test('R10: says where commands run, in its instructions', async () => {
    await startWorker(nats.url, ['--label', 'of=words']);
    const told = async (...way: readonly string[]): Promise<string> => {
      const client = new Client({ name: 'test', version: '1' });
      const args = [program, 'mcp', ...way];
      await client.connect(new StdioClientTransport({ command: process.execPath, args }));
      const instructions = client.getInstructions();
      await client.close();
      return instructions ?? '';
    };
    const ofFleet = await told('--fleet', nats.url, '--label', 'of=words');
    expect(ofFleet).toMatch(/^Runs shell commands on a worker of a fleet, another machine /);
    expect(ofFleet).toContain('with the rights of the worker.');
    expect(ofFleet).not.toContain("on the user's machine");
    expect(await told()).toMatch(/^Runs shell commands on the user's machine, /);
  });

  test('R10: tells of a killed worker after a quarter of the lease, not after all of it', async () => {
    const worker = await startWorker(nats.url, ['--label', 'of=killed']);
    const client = new Client({ name: 'test', version: '1' });
    const args = [program, 'mcp', '--fleet', nats.url, '--label', 'of=killed'];
    await client.connect(new StdioClientTransport({ command: process.execPath, args }));
    const running = client.callTool({ name: 'bash', arguments: { command: longSleep(201) } });
    await eventually(() => expect(sleeping(201)).toHaveLength(1));
    const killed = performance.now();
    worker.child.kill('SIGKILL');
    expect(await running).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('its worker was lost') }],
    });
    const ms = performance.now() - killed;
    expect(ms).toBeGreaterThanOrEqual(LEASE_MS / 4);
    expect(ms).toBeLessThan(LEASE_MS);
    await client.close();
    await eventually(() => expect(sleeping(201)).toEqual([]));
  });

  test('says that there is no worker, before a client calls', async () => {
    const { code, stderr } = await cli('mcp', '--fleet', nats.url);
    expect(stderr).toBe('forkline: There is no worker; nothing was started.\n');
    expect(code).toBe(1);
  });
});
