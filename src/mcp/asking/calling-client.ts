import type { ServerContext } from '@modelcontextprotocol/server';
import type { ProgramAsker } from './ask-client.js';

/** The client of a call, and its request that waits for the answer. */
export interface CallingClient extends ProgramAsker {
  readonly request: ServerContext;
  /** Aborted when the client has left the call; absent: its request says it. */
  readonly signal?: AbortSignal;
  /** Whether something was denied since its user could not be asked. */
  readonly wasMute: boolean;
  /** Notes that the call is answered. */
  over(): void;
}
