import type { Call } from './call.js';
import type { FrameKind } from './frames.js';

/** Callbacks for the events of a line, besides those of its calls. */
export interface WireEvents {
  /** The other side has said hello. */
  hello(body: unknown): void;
  /** The other side has sent a notice about the line. */
  notice?(body: unknown): void;
  /** A client has begun a call; `refused`: it has too many incomplete bytes. */
  opened?(call: Call, body: unknown, refused: boolean): void;
  /** A call is over. */
  idle?(): void;
  /**
   * Checks a message, but for those that begin calls. Returns whether the message is to be passed on.
   *
   * @throws {ProtocolFault} The message is not valid.
   */
  check?(kind: FrameKind, call: Call | undefined, body: unknown): boolean;
  /** The line is closed, and all of its calls have been told. */
  closed(reason: string): void;
}

/** Limits for what the other side sends, in bytes. */
export interface WireLimits {
  /** The bytes of incomplete messages, of all calls together. */
  readonly maxBytes: number;
}
