import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerContext } from '@modelcontextprotocol/server';
import type { ExecRequest } from '../../index.js';

/** The client of a call, and its request that waits for the answer. */
export interface CallingClient {
  /** Asks whether a program may be executed. */
  ask(request: ExecRequest): Promise<'allow' | 'deny'>;
  readonly request: ServerContext;
  /** Aborted when the client has left the call; absent: its request says it. */
  readonly signal?: AbortSignal;
  /** Whether something was denied since its user could not be asked. */
  readonly wasMute: boolean;
  /** Notes that the call is answered. */
  over(): void;
}

const clients = new AsyncLocalStorage<CallingClient>();

/** Runs a call whose commands may ask this client. */
export function withClient<Result>(client: CallingClient, call: () => Result): Result {
  return clients.run(client, call);
}

/**
 * Asks the MCP client of the call by which a command was started: the option `onExec` of a tool that is served by
 * this package. A client that can't ask its user (MCP's elicitation) denies, and the answer of the call says so.
 *
 * @example
 * const tool = createBashTool({ contract: 'session', cwd, sandbox: { exec: { rules } }, onExec: askClient });
 * await serveStdio(tool).closed;
 */
export function askClient(request: ExecRequest): Promise<'allow' | 'deny'> {
  return clients.getStore()?.ask(request) ?? Promise.resolve('deny');
}
