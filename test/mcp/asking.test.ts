import { existsSync, mkdirSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import {
  Client,
  type ClientOptions,
  type ElicitRequestParams,
  type Transport,
} from '@modelcontextprotocol/client';
import { InMemoryTransport, ReadBuffer, serializeMessage } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test } from 'vitest';
import { type BashTool, createBashTool, type ExecRequest } from '../../src/index.js';
import { askClient, createMcpServer, serveStdio } from '../../src/mcp/index.js';
import { useFolders } from '../support/leftovers.js';
import { answerOf } from '../support/mcp.js';

const newFolder = useFolders();

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const REQUEST: Omit<ExecRequest, 'signal'> = {
  program: '/usr/bin/git',
  argv: ['git', 'push', 'a b'],
  cwd: '/work',
  pid: 7,
  parents: [{ pid: 7, program: '/usr/bin/make' }],
  say: 'Use a branch.',
};
const FORM = { elicitation: { form: {} } };

/** A tool whose calls ask the client, and answer with what it says. */
function askingTool(signals: readonly AbortSignal[]): BashTool {
  const tool = createBashTool({ contract: 'plain', cwd: '/' });
  open.push(() => tool.dispose());
  const execute: BashTool['execute'] = async (_, call) => {
    const asked = signals.map((signal) => askClient({ ...REQUEST, signal }));
    const all = await Promise.all(asked);
    const text = call?.signal?.aborted ? 'ended' : all.join(' ');
    return { content: [{ type: 'text', text }], details: {} };
  };
  return { ...tool, execute };
}

type Answer = (params: ElicitRequestParams, signal: AbortSignal) => unknown;

/** Connects a client of the newest revision, over a pair of streams, or of an earlier one. */
const ways = {
  'revision 2025-11-25': async (tool: BashTool, options: ClientOptions) => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await createMcpServer(tool).connect(ours);
    const client = new Client({ name: 'test', version: '1' }, options);
    return { client, transport: theirs };
  },
  'revision 2026-07-28': async (tool: BashTool, options: ClientOptions) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const service = serveStdio(tool, { streams: { input, output } });
    open.push(() => service.close());
    const client = new Client(
      { name: 'test', version: '1' },
      { ...options, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    return { client, transport: new StreamsTransport(output, input) };
  },
};

/** A client's end of a pair of streams. */
class StreamsTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #from: PassThrough;
  readonly #to: PassThrough;

  constructor(from: PassThrough, to: PassThrough) {
    this.#from = from;
    this.#to = to;
  }

  async start(): Promise<void> {
    const buffer = new ReadBuffer();
    this.#from.on('data', (bytes: Buffer) => {
      buffer.append(bytes);
      for (let next = buffer.readMessage(); next !== null; next = buffer.readMessage()) {
        this.onmessage?.(next);
      }
    });
  }

  async send(message: Parameters<Transport['send']>[0]): Promise<void> {
    this.#to.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    this.#to.end();
    this.onclose?.();
  }
}

describe.each(Object.entries(ways))('a client of %s', (_, connect) => {
  async function opened(
    answer: Answer | undefined,
    signals: readonly AbortSignal[] = [new AbortController().signal],
  ) {
    const capabilities = answer === undefined ? {} : FORM;
    const { client, transport } = await connect(askingTool(signals), { capabilities });
    open.push(() => client.close());
    if (answer !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
        return (await answer(params, mcpReq.signal)) as never;
      });
    }
    await client.connect(transport);
    return client;
  }

  const called = async (client: Client, options?: { signal?: AbortSignal }) =>
    answerOf(await client.callTool({ name: 'bash', arguments: { command: 'x' } }, options));

  test('is asked by a form, and its answer decides', async () => {
    const seen: ElicitRequestParams[] = [];
    const client = await opened((params) => {
      seen.push(params);
      return { action: 'accept', content: { answer: 'allow' } };
    });
    expect(await called(client)).toBe('allow');
    expect(seen).toMatchObject([
      {
        mode: 'form',
        message: `May this program run?\ngit push 'a b'\nin /work, run by make\nif not, the command is told: Use a branch.`,
        requestedSchema: { required: ['answer'] },
      },
    ]);
  });

  test.each([
    { action: 'accept', content: { answer: 'deny' } },
    { action: 'decline' },
    { action: 'cancel' },
  ])('denies by %j', async (answer) => {
    expect(await called(await opened(() => answer))).toBe('deny');
  });

  test('can be asked several things at once, and again', async () => {
    let count = 0;
    const signals = Array.from({ length: 3 }, () => new AbortController().signal);
    const client = await opened(() => {
      count += 1;
      return { action: 'accept', content: { answer: count === 2 ? 'deny' : 'allow' } };
    }, signals);
    expect((await called(client)).split(' ').sort()).toEqual(['allow', 'allow', 'deny']);
    expect(await called(client)).toBe('allow allow allow');
    expect(count).toBe(6);
  });

  test('that can ask nobody denies, and the answer says so', async () => {
    const client = await opened(undefined);
    expect(await called(client)).toBe(
      "denyNobody was asked: the client can't ask its user about programs (any more).",
    );
  });

  test('is not waited for any more when the time is over', async () => {
    const control = new AbortController();
    const client = await opened(async () => {
      control.abort();
      return { action: 'accept', content: { answer: 'allow' } };
    }, [control.signal]);
    expect(await called(client)).toBe('deny');
  });

  test('that cancels the call ends it', async () => {
    const control = new AbortController();
    const client = await opened(async () => {
      control.abort();
      return { action: 'cancel' };
    });
    await expect(called(client, { signal: control.signal })).rejects.toThrow();
  });
});

test.each(Object.entries(ways))('a real command asks a client of %s', async (_, connect) => {
  const cwd = newFolder();
  mkdirSync(`${cwd}/x`);
  const tool = createBashTool({
    contract: 'session',
    cwd,
    sandbox: {
      mode: 'danger-full-access',
      exec: { rules: [{ program: 'rm', argv: ['-r'], answer: 'ask' }] },
    },
    onExec: askClient,
  });
  open.push(() => tool.dispose());
  const { client, transport } = await connect(tool, { capabilities: FORM });
  open.push(() => client.close());
  const answers = ['deny', 'allow'];
  const seen: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    seen.push(params.message);
    return { action: 'accept', content: { answer: answers.shift() ?? 'deny' } };
  });
  await client.connect(transport);
  const called = async (command: string) =>
    answerOf(await client.callTool({ name: 'bash', arguments: { command } }));
  expect(await called('bash -c "exec rm -r x"')).toContain(
    "The sandbox's rules denied: `rm -r x`. The user has not allowed it.",
  );
  expect(existsSync(`${cwd}/x`)).toBe(true);
  expect(await called('bash -c "exec rm -r x"; ls; echo over')).toBe('over');
  expect(existsSync(`${cwd}/x`)).toBe(false);
  expect(seen).toHaveLength(2);
  expect(seen[0]).toContain(`rm -r x\nin ${cwd}, run by bash`);
});

test('outside of a call nobody is there to be asked', async () => {
  const { signal } = new AbortController();
  expect(await askClient({ ...REQUEST, signal })).toBe('deny');
});
