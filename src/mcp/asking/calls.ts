import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { onAbort } from '../../support/abort.js';
import { refused } from '../../support/timing.js';
import type { CallingClient } from './calling-client.js';
import { PushedClient } from './pushed.js';
import { isByRounds } from './question.js';
import { type RoundResult, RoundsCall } from './rounds.js';

/** The calls of a connection, whose clients can be asked while they run. */
export class Calls {
  readonly #server: Server;
  /** Calls that wait for their client to come back, by the state that it brings. */
  readonly #waiting = new Map<string, RoundsCall>();

  constructor(server: Server) {
    this.#server = server;
  }

  /** Begins a call, or goes on with one that its client was asked about. */
  async call(
    request: ServerContext,
    begin: (client: CallingClient) => Promise<CallToolResult>,
  ): Promise<RoundResult> {
    if (!isByRounds(request)) return begin(new PushedClient(this.#server, request));
    const state: unknown = request.mcpReq.requestState();
    if (state === undefined) {
      const made = new RoundsCall(this.#server, request);
      onAbort(made.signal, () => this.#waiting.delete(made.id));
      return this.#answered(
        made,
        made.begin(() => begin(made)),
      );
    }
    const known = this.#waiting.get(String(state));
    if (known !== undefined) return this.#answered(known, known.resume(request));
    const message = 'Invalid or expired requestState: its call is over';
    return refused(new ProtocolError(ProtocolErrorCode.InvalidParams, message));
  }

  async #answered(call: RoundsCall, answer: Promise<RoundResult>): Promise<RoundResult> {
    this.#waiting.delete(call.id);
    const result = await answer;
    if ('requestState' in result) this.#waiting.set(call.id, call);
    return result;
  }
}
