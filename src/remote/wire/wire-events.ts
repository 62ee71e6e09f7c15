import type { Call } from './call.js';
import type { FrameKind } from './frames.js';

/** Who is told what happens on a line, besides its calls. */
export interface WireEvents {
  /** The other side has said who it is. */
  hello(body: unknown): void;
  /** It says something about the line. */
  notice?(body: unknown): void;
  /** A client has begun a call; `refused`: it has too much under way. */
  opened?(call: Call, body: unknown, refused: boolean): void;
  /** A call is over. */
  idle?(): void;
  /**
   * Checks a message, but for those that begin calls. Returns whether it is to be told.
   *
   * @throws {ProtocolFault} It is not what such a message has to be.
   */
  check?(kind: FrameKind, call: Call | undefined, body: unknown): boolean;
  /** The line is closed, after all of its calls were told. */
  closed(reason: string): void;
}

/** How much one side takes of the other, in bytes. */
export interface WireLimits {
  /** Of messages that are not whole yet, of all calls together. */
  readonly maxBytes: number;
}
