import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ExecRequest } from '../../index.js';
import { onAbort } from '../../support/abort.js';
import { firstOf, startTimer } from '../../support/timing.js';
import type { CallingClient } from './calling-client.js';
import { canAsk, decisionIn, formOf } from './question.js';

/** Clients give up after ten rounds. */
const MOST_ROUNDS = 9;
/** The time in which a client comes back after its question's time is over, in milliseconds. */
const RETURN_MS = 10_000;

/** What a call is answered for now: by its result, or by questions. */
export type RoundResult = CallToolResult | InputRequiredResult;

interface ProgramQuestion {
  readonly request: ExecRequest;
  /** Whether the client has it. */
  isSent: boolean;
  readonly decide: (answer: 'allow' | 'deny') => void;
}

/**
 * A call of a client since revision 2026-07-28. A question is an answer to its request; the client makes the call
 * again with the user's answer, while the command goes on.
 */
export class RoundsCall implements CallingClient {
  readonly id = randomUUID();
  readonly #server: Server;
  readonly #ending = new AbortController();
  readonly #questions = new Map<string, ProgramQuestion>();
  #request: ServerContext;
  #result: Promise<CallToolResult> | undefined;
  #rounds = 0;
  #count = 0;
  #isOver = false;
  #asked = (): void => {};
  #stopWaiting = (): void => {};
  /** Whether something was denied since this client can't ask, or not any more. */
  wasMute = false;

  constructor(server: Server, request: ServerContext) {
    this.#server = server;
    this.#request = request;
  }

  /** The request that waits now. */
  get request(): ServerContext {
    return this.#request;
  }

  /** Aborted when the client has left the call. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Whether the call has been answered by its result. */
  get isOver(): boolean {
    return this.#isOver;
  }

  over(): void {
    this.#isOver = true;
  }

  /** Begins the call. Settles with the first questions, or with the result. */
  begin(call: () => Promise<CallToolResult>): Promise<RoundResult> {
    this.#follow(this.#request);
    this.#result = call();
    this.#result.catch(() => {});
    return this.#next(this.#result);
  }

  /** Goes on with the answers to the questions. */
  resume(request: ServerContext): Promise<RoundResult> {
    this.#stopWaiting();
    this.#request = request;
    this.#follow(request);
    const { inputResponses = {} } = request.mcpReq;
    for (const [key, { decide, isSent }] of this.#questions) {
      if (isSent) decide(decisionIn(inputResponses[key]));
    }
    return this.#next(this.#result ?? Promise.reject(new Error('the call has not begun')));
  }

  async ask(request: ExecRequest): Promise<'allow' | 'deny'> {
    if (this.#isOver || this.#rounds >= MOST_ROUNDS || !canAsk(this.#server, this.#request)) {
      this.wasMute = true;
      return 'deny';
    }
    this.#count += 1;
    const key = `program-${this.#count}`;
    return new Promise((resolve) => {
      const decide = (answer: 'allow' | 'deny'): void => {
        this.#questions.delete(key);
        forget();
        resolve(answer);
      };
      const forget = onAbort(request.signal, () => decide('deny'));
      this.#questions.set(key, { request, decide, isSent: false });
      this.#asked();
    });
  }

  async #next(result: Promise<CallToolResult>): Promise<RoundResult> {
    for (;;) {
      const isAsked = new Promise<'asked'>((resolve) => {
        this.#asked = () => resolve('asked');
      });
      if (this.#questions.size > 0) this.#asked();
      const first = await firstOf<CallToolResult | 'asked'>(result, isAsked);
      this.#asked = () => {};
      if (first !== 'asked') return first;
      // Its time may have been over at once.
      if (this.#questions.size > 0) return this.#askNow();
    }
  }

  #askNow(): InputRequiredResult {
    this.#rounds += 1;
    const all = [...this.#questions];
    for (const [, question] of all) question.isSent = true;
    const forms = all.map(([key, { request }]) => [key, inputRequired.elicit(formOf(request))]);
    this.#stopWaiting = this.#untilReturned(all.map(([, { request }]) => request.signal));
    return inputRequired({ inputRequests: Object.fromEntries(forms), requestState: this.id });
  }

  /** Ends the call if the client does not come back: nobody would take its result. */
  #untilReturned(signals: readonly AbortSignal[]): () => void {
    const gone = (): void => this.#ending.abort();
    let stop = (): void => {};
    const stops = signals.map((signal) =>
      onAbort(signal, () => {
        stop();
        stop = startTimer(RETURN_MS, gone);
      }),
    );
    return () => {
      stop();
      for (const each of stops) each();
    };
  }

  #follow({ mcpReq }: ServerContext): void {
    onAbort(mcpReq.signal, () => this.#ending.abort());
  }
}
