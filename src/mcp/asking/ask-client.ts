import { AsyncLocalStorage } from 'node:async_hooks';
import type { ExecRequest } from '../../index.js';

/** Who is asked about programs. */
export interface ProgramAsker {
  /** Asks whether a program may be executed. */
  ask(request: ExecRequest): Promise<'allow' | 'deny'>;
}

const clients = new AsyncLocalStorage<ProgramAsker>();

/** Runs a call whose commands may ask this client. */
export function withClient<Result>(client: ProgramAsker, call: () => Result): Result {
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
