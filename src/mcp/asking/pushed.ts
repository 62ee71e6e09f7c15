import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { ExecRequest } from '../../index.js';
import type { CallingClient } from './calling-client.js';
import { canAsk, decisionIn, formOf } from './question.js';

/** The policy's own time limit counts, which is shorter. */
const LONGEST_MS = 2 ** 31 - 1;

/** A client of a revision before 2026-07-28, which is asked by requests of the server. */
export class PushedClient implements CallingClient {
  readonly #server: Server;
  readonly request: ServerContext;
  #isOver = false;
  /** Whether something was denied since this client can't ask. */
  wasMute = false;

  constructor(server: Server, request: ServerContext) {
    this.#server = server;
    this.request = request;
  }

  /** Notes that the call was answered: what it has left running asks beside it. */
  over(): void {
    this.#isOver = true;
  }

  async ask(request: ExecRequest): Promise<'allow' | 'deny'> {
    if (!canAsk(this.#server, this.request)) {
      this.wasMute = true;
      return 'deny';
    }
    const { id } = this.request.mcpReq;
    const options = { signal: request.signal, timeout: LONGEST_MS };
    const related = this.#isOver ? {} : { relatedRequestId: id };
    try {
      const asked = { method: 'elicitation/create', params: formOf(request) } as const;
      return decisionIn(await this.#server.request(asked, { ...options, ...related }));
    } catch {
      // The time is over, the client is gone, or it has answered with an error.
      return 'deny';
    }
  }
}
