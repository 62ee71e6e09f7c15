import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach } from 'vitest';

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** The arguments that start the server under test, without Node's own. */
export const mcpArguments = (...more: readonly string[]): string[] => [
  program,
  'mcp',
  '--contract',
  'workspace',
  ...more,
];

/** Where this file's tests have the user's state, which a client does not pass on by itself. */
function state(): Record<string, string> {
  const { XDG_STATE_HOME: folder } = process.env;
  return folder === undefined ? {} : { XDG_STATE_HOME: folder };
}

/** The text of a tool's answer. */
export function answerOf(result: Readonly<Record<string, unknown>>): string {
  const parts = result.content as readonly { type: string; text: string }[];
  return parts.map(({ text }) => text).join('');
}

/**
 * What an official client tells of these notes: all, or all but the last. It hears of notes a turn later than
 * of the response, and drops one that it has read together with that. What is sent is seen on the wire.
 */
export const toldOf = <Note>(notes: readonly Note[]): readonly (readonly Note[])[] => [
  notes,
  notes.slice(0, -1),
];

/** Connects official clients, and closes them after the test that asked for them. */
export function useClients() {
  const clients: Client[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  async function connect(transport: Parameters<Client['connect']>[0], options?: ClientOptions) {
    const client = new Client({ name: 'test', version: '1.0.0' }, options);
    clients.push(client);
    await client.connect(transport);
    return client;
  }
  return {
    connect,
    /** To a server that is a child process. */
    stdio: (args: readonly string[] = [], options?: ClientOptions) =>
      connect(
        new StdioClientTransport({
          command: process.execPath,
          args: mcpArguments(...args),
          env: state(),
          stderr: 'ignore',
        }),
        options,
      ),
    /** To a server on a port. */
    http: (url: string, token: string | undefined, options?: ClientOptions) =>
      connect(
        new StreamableHTTPClientTransport(new URL(url), {
          requestInit: token === undefined ? {} : { headers: bearer(token) },
        }),
        options,
      ),
  };
}

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** A message as it stands on the wire. */
export interface WireMessage {
  readonly jsonrpc?: string;
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A server process whose streams the test holds itself. */
export interface RawServer {
  readonly child: ChildProcess;
  /** Everything that it wrote to standard output, in lines. */
  readonly lines: string[];
  /** Everything that it wrote to standard error. */
  stderr(): string;
  /** Writes one message, or a line that is none. */
  send(message: WireMessage | string): void;
  /** The first message that fits, whenever it comes. */
  expect(fits: (message: WireMessage) => boolean): Promise<WireMessage>;
  /** Sends a request and waits for its response. */
  request(method: string, params?: Record<string, unknown>): Promise<WireMessage>;
  /** Starts a call of `bash` and tells its id. */
  call(command: string, more?: Record<string, unknown>): number;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts servers, and kills those that outlive their test. */
export function useRawServers(
  env: NodeJS.ProcessEnv = {},
): (...args: readonly string[]) => Promise<RawServer> {
  const start = useUnopenedServers(env);
  return async (...args) => {
    const server = start(...args);
    await server.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1.0.0' },
    });
    server.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return server;
  };
}

/** The same without the opening exchange. */
export function useUnopenedServers(
  env: NodeJS.ProcessEnv = {},
): (...args: readonly string[]) => RawServer {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });
  return (...args) => {
    const child = spawn(process.execPath, mcpArguments(...args), {
      env: { ...process.env, ...env },
    });
    children.push(child);
    return rawServer(child);
  };
}

function rawServer(child: ChildProcess): RawServer {
  const lines: string[] = [];
  let stderr = '';
  let waiting: (() => void)[] = [];
  let lastId = 0;
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  child.stdin?.on('error', () => {});
  if (child.stdout) {
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line);
      for (const look of waiting.splice(0)) look();
    });
  }
  const ended = new Promise<Awaited<RawServer['ended']>>((resolve) => {
    child.on('close', (code, signal) => {
      resolve({ code, signal });
      waiting = [];
    });
  });
  function send(message: WireMessage | string): void {
    const line = typeof message === 'string' ? message : JSON.stringify(message);
    child.stdin?.write(`${line}\n`);
  }
  async function expect(fits: (message: WireMessage) => boolean): Promise<WireMessage> {
    for (;;) {
      const found = lines.map((line) => JSON.parse(line) as WireMessage).find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  }
  function start(method: string, params: Record<string, unknown> = {}): number {
    lastId += 1;
    send({ jsonrpc: '2.0', id: lastId, method, params });
    return lastId;
  }
  return {
    child,
    lines,
    stderr: () => stderr,
    send,
    expect,
    request(method, params) {
      const id = start(method, params);
      return expect((message) => message.id === id && message.method === undefined);
    },
    call: (command, more) => start('tools/call', { name: 'bash', arguments: { command }, ...more }),
    ended,
  };
}
