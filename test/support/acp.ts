import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import {
  type AgentConnection,
  agent,
  type ClientConnection,
  type CreateTerminalRequest,
  client,
  methods,
  ndJsonStream,
  type TerminalExitStatus,
  type TerminalOutputResponse,
} from '@agentclientprotocol/sdk';
import { afterEach } from 'vitest';
import { lastBytes } from '../../src/support/text.js';

interface Terminal {
  readonly child: ChildProcess;
  readonly ended: Promise<TerminalExitStatus>;
  output: string;
  truncated: boolean;
  status: TerminalExitStatus | undefined;
}

/** What a client does in another way than it should. It gets what it should have done. */
export interface Misbehaviour {
  create?(params: CreateTerminalRequest, create: () => string): Promise<string> | string;
  output?(look: () => TerminalOutputResponse): Promise<TerminalOutputResponse>;
  wait?(ended: () => Promise<TerminalExitStatus>): Promise<TerminalExitStatus>;
  kill?(kill: () => void): Promise<void>;
  release?(release: () => void): Promise<void>;
}

/** A client of the Agent Client Protocol with terminals in which commands really run. */
export class AcpClient {
  /** Every request that came, in order. */
  readonly requests: string[] = [];
  readonly created: CreateTerminalRequest[] = [];
  readonly #terminals = new Map<string, Terminal>();
  readonly #agent: AgentConnection;
  readonly #client: ClientConnection;

  constructor(does: Misbehaviour = {}) {
    const toClient = new TransformStream<Uint8Array, Uint8Array>();
    const toAgent = new TransformStream<Uint8Array, Uint8Array>();
    const { terminal } = methods.client;
    this.#client = client({ name: 'test client' })
      .onRequest(terminal.create, async ({ params }) => {
        this.#note('create');
        this.created.push(params);
        const create = (): string => this.#start(params);
        return { terminalId: does.create ? await does.create(params, create) : create() };
      })
      .onRequest(terminal.output, ({ params }) => {
        this.#note('output');
        const look = (): TerminalOutputResponse => this.#look(params.terminalId);
        return does.output ? does.output(look) : look();
      })
      .onRequest(terminal.waitForExit, ({ params }) => {
        this.#note('wait');
        const ended = () => this.#find(params.terminalId).ended;
        return does.wait ? does.wait(ended) : ended();
      })
      .onRequest(terminal.kill, async ({ params }) => {
        this.#note('kill');
        const kill = () => killGroup(this.#find(params.terminalId).child);
        await (does.kill ? does.kill(kill) : kill());
      })
      .onRequest(terminal.release, async ({ params }) => {
        this.#note('release');
        const release = () => {
          killGroup(this.#find(params.terminalId).child);
          this.#terminals.delete(params.terminalId);
        };
        await (does.release ? does.release(release) : release());
      })
      .connect(ndJsonStream(toAgent.writable, toClient.readable));
    this.#agent = agent({ name: 'test agent' }).connect(
      ndJsonStream(toClient.writable, toAgent.readable),
    );
  }

  /** The agent's side, as the SDK makes it. */
  get connection(): AgentConnection['client'] {
    return this.#agent.client;
  }

  /** Terminals that were not released. */
  get open(): number {
    return this.#terminals.size;
  }

  count(request: string): number {
    return this.requests.filter((each) => each === request).length;
  }

  disconnect(): void {
    this.#client.close();
    this.#agent.close();
  }

  async close(): Promise<void> {
    for (const { child } of this.#terminals.values()) killGroup(child);
    await Promise.all([...this.#terminals.values()].map(({ ended }) => ended));
    this.disconnect();
  }

  #note(request: string): void {
    this.requests.push(request);
  }

  #find(id: string): Terminal {
    const found = this.#terminals.get(id);
    if (found === undefined) throw new Error(`no terminal ${id}`);
    return found;
  }

  #look(id: string): TerminalOutputResponse {
    const { output, truncated, status } = this.#find(id);
    return { output, truncated, ...(status && { exitStatus: status }) };
  }

  #start(params: CreateTerminalRequest): string {
    const variables = (params.env ?? []).map(({ name, value }) => [name, value]);
    const child = spawn(params.command, params.args ?? [], {
      cwd: params.cwd ?? undefined,
      env: { PATH: process.env.PATH, CLIENT: 'yes', ...Object.fromEntries(variables) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const ended = once(child, 'close').then(([exitCode, signal]) => {
      terminal.status = { exitCode, signal };
      return terminal.status;
    });
    const terminal: Terminal = { child, ended, output: '', truncated: false, status: undefined };
    const limit = params.outputByteLimit ?? Number.POSITIVE_INFINITY;
    for (const stream of [child.stdout, child.stderr]) {
      const decoder = new StringDecoder('utf8');
      stream?.on('data', (data: Buffer) => {
        const whole = terminal.output + decoder.write(data);
        terminal.output = lastBytes(whole, limit);
        terminal.truncated ||= terminal.output !== whole;
      });
    }
    const id = `term-${this.created.length}`;
    this.#terminals.set(id, terminal);
    return id;
  }
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  process.kill(-pid, 'SIGKILL');
}

/** Makes clients that are gone after the test that asked for them. */
export function useAcpClients(): (does?: Misbehaviour) => AcpClient {
  const clients: AcpClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((each) => each.close()));
  });
  return (does) => {
    const made = new AcpClient(does);
    clients.push(made);
    return made;
  };
}

/** An answer that never comes. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
