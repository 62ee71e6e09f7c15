import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { program } from '../support/cli.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useFolder } from '../support/leftovers.js';
import { answerOf } from '../support/mcp.js';
import { descriptors, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';

const folder = useFolder();

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (note: { progress: number; message?: string | undefined }) => void;
}

/** A client of the server as it is without `--contract`, with structured results. */
interface SessionClient {
  call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<Record<string, unknown>>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

const serverOf = (more: readonly string[]) => ({
  command: process.execPath,
  args: [program, 'mcp', '--cwd', folder.path, '--structured', ...more],
  stderr: 'ignore' as const,
});

/** The tools are listed, so that the clients check each answer against its output schema. */
const versions = {
  async 'version 2'(more) {
    const client = new Client({ name: 'new', version: '1.0.0' });
    await client.connect(new StdioClientTransport(serverOf(more)));
    await client.listTools();
    return {
      call: (name, input, options) => client.callTool({ name, arguments: input }, options),
      ping: () => client.ping(),
      close: () => client.close(),
    };
  },
  async 'version 1'(more) {
    const client = new OldClient({ name: 'old', version: '1.0.0' });
    await client.connect(new OldTransport(serverOf(more)));
    await client.listTools();
    return {
      call: (name, input, options) =>
        client.callTool({ name, arguments: input }, undefined, options),
      ping: () => client.ping(),
      close: () => client.close(),
    };
  },
} satisfies Record<string, (more: readonly string[]) => Promise<SessionClient>>;

describe.each(Object.entries(versions))('to %s of the official client', (_name, open) => {
  async function connect(...more: readonly string[]): Promise<SessionClient> {
    const client = await open(more);
    onTestFinished(() => client.close());
    return client;
  }

  const threeLines = 'for i in 1 2 3; do echo out $i; echo err $i >&2; sleep 0.3; done';
  const allOfThem = {
    stdout: 'out 1\nout 2\nout 3\n',
    stderr: 'err 1\nerr 2\nerr 3\n',
    exit_code: 0,
  };

  test('Scenario: Progress notifications sent during execution', async () => {
    const client = await connect();
    const notes: { text: string; sinceStart: number }[] = [];
    const start = performance.now();
    const onprogress: CallOptions['onprogress'] = ({ message = '' }) =>
      notes.push({ text: message, sinceStart: performance.now() - start });
    const result = await client.call('bash', { command: threeLines }, { onprogress });
    const ended = performance.now() - start;
    // As it was produced: the first of it well before the last of it.
    expect(notes[0]?.sinceStart).toBeLessThan(ended - 500);
    const told = notes.map(({ text }) => text).join('');
    expect(told.match(/out \d\n/g)?.join('')).toBe(allOfThem.stdout);
    expect(told.match(/err \d\n/g)?.join('')).toBe(allOfThem.stderr);
    expect(result.structuredContent).toMatchObject(allOfThem);
  });

  test('Scenario: Final result is self-contained', async () => {
    const client = await connect();
    const result = await client.call('bash', { command: threeLines });
    expect(result.structuredContent).toMatchObject(allOfThem);
    expect(answerOf(result)).toBe('out 1\nout 2\nout 3\n\nstderr:\nerr 1\nerr 2\nerr 3');
  });

  test('the directory lasts, and of calls at once each starts where it was', async () => {
    const client = await connect();
    const slow = client.call('bash', { command: 'pwd; sleep 0.5; pwd' });
    const quick = client.call('bash', { command: 'cd /usr' });
    expect((await quick).structuredContent).toMatchObject({ cwd: '/usr' });
    expect((await slow).structuredContent).toMatchObject({
      stdout: `${folder.path}\n${folder.path}\n`,
      cwd: '/usr',
    });
    const after = await client.call('bash', { command: 'pwd' });
    expect(after.structuredContent).toMatchObject({ stdout: '/usr\n' });
  });

  test('a directory that is deleted is an error once', async () => {
    const client = await connect();
    await client.call('bash', { command: 'mkdir gone; cd gone; rmdir "$PWD"' });
    const failed = await client.call('bash', { command: 'pwd' });
    expect(failed.isError).toBe(true);
    expect(answerOf(failed)).toContain(`does not exist: ${folder.path}/gone`);
    const again = await client.call('bash', { command: 'pwd' });
    expect(again.structuredContent).toMatchObject({ stdout: `${folder.path}\n` });
  });

  test('a cancelled call ends with everything it started, and the session goes on', async () => {
    const client = await connect();
    const stop = new AbortController();
    const command = `cd /usr; ${longSleep(631)} & ${longSleep(631)}`;
    const call = client.call('bash', { command }, { signal: stop.signal });
    await eventually(() => expect(sleeping(631)).toHaveLength(2));
    stop.abort();
    await expect(call).rejects.toThrow();
    await client.ping();
    await eventually(() => expect(sleeping(631)).toEqual([]));
    const after = await client.call('bash', { command: 'pwd' });
    expect(after.structuredContent).toMatchObject({ stdout: `${folder.path}\n` });
  });

  test('--timeout is for calls that ask for none, and the output so far is told', async () => {
    const client = await connect('--timeout', '0.5');
    const late = await client.call('bash', { command: 'echo so far; sleep 30' });
    expect(late.isError).toBeUndefined();
    expect(late.structuredContent).toMatchObject({ stdout: 'so far\n', timed_out: true });
    const inTime = await client.call('bash', { command: 'sleep 1', timeout: 30_000 });
    expect(inTime.structuredContent).toMatchObject({ timed_out: false });
  });

  test('ten tasks run in the background, are read once, and end with the connection', async () => {
    const client = await connect();
    const start = (command: string) => client.call('bash', { command, run_in_background: true });
    const first = await start('echo working; sleep 0.5; echo done; exit 4');
    const { task_id } = first.structuredContent as { task_id: string };
    await eventually(async () => {
      const { structuredContent } = await client.call('task_output', { task_id });
      expect(structuredContent).toMatchObject({ status: 'running', stdout: 'working\n' });
    });
    await eventually(async () => {
      const { structuredContent } = await client.call('task_output', { task_id });
      const all = { status: 'completed', stdout: 'working\ndone\n', exit_code: 4 };
      expect(structuredContent).toMatchObject(all);
    });
    const twice = await client.call('task_output', { task_id });
    expect(twice.isError).toBe(true);
    expect(answerOf(twice)).toContain(`Task not found: ${task_id}`);

    const started = await Promise.all(Array.from({ length: 11 }, () => start(longSleep(632))));
    const refused = started.filter(({ isError }) => isError);
    expect(refused).toHaveLength(1);
    expect(answerOf(refused[0] ?? {})).toContain('maximum of 10 concurrent tasks');
    await eventually(() => expect(sleeping(632)).toHaveLength(10));
    await client.close();
    await eventually(() => expect(sleeping(632)).toEqual([]));
  });

  test(
    'a hundred calls at once are answered, each with its own output',
    where(descriptors(4096)),
    async () => {
      const client = await connect();
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          client.call('bash', { command: `sleep 0.1; echo ${index}` }),
        ),
      );
      answers.forEach(({ structuredContent }, index) => {
        expect(structuredContent).toMatchObject({ stdout: `${index}\n` });
      });
    },
  );
});
