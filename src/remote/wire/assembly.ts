import { FRAME, type Frame, ProtocolFault } from './frames.js';

interface Partial {
  readonly pieces: Uint8Array[];
  size: number;
  isRefused: boolean;
}

/** A whole message; `refused`: it was too long, and its body is not kept. */
interface Assembled {
  readonly body: unknown;
  readonly refused: boolean;
}

/** Puts messages together from their parts, up to a limit of bytes for all incomplete messages. */
export class Assembly {
  readonly #maxBytes: number;
  readonly #partial = new Map<number, Partial>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns whether a message of this call is incomplete. */
  has(call: number): boolean {
    return this.#partial.has(call);
  }

  /**
   * Takes a part; returns the message if that was its last part.
   *
   * @throws {ProtocolFault} Too many bytes are incomplete, and the message does not begin a call, which
   *   could be refused.
   */
  take({ kind, more, call, payload }: Frame): Assembled | undefined {
    const partial = this.#partial.get(call) ?? { pieces: [], size: 0, isRefused: false };
    this.#partial.set(call, partial);
    if (!partial.isRefused) {
      // A copy, so that the parser's memory is not kept for a part of it.
      partial.pieces.push(more ? Buffer.from(payload) : payload);
      partial.size += payload.length;
      this.#bytes += payload.length;
    }
    if (this.#bytes > this.#maxBytes) {
      if (kind !== FRAME.open)
        throw new ProtocolFault(`a message is longer than ${this.#maxBytes} bytes (maxBytes)`);
      this.forget(call);
      this.#partial.set(call, { pieces: [], size: 0, isRefused: true });
    }
    if (more) return undefined;
    const isRefused = this.#partial.get(call)?.isRefused ?? false;
    const body = isRefused ? undefined : parse(Buffer.concat(partial.pieces));
    this.forget(call);
    return { body, refused: isRefused };
  }

  /** Drops the incomplete message of a call. */
  forget(call: number): void {
    this.#bytes -= this.#partial.get(call)?.size ?? 0;
    this.#partial.delete(call);
  }

  clear(): void {
    this.#partial.clear();
    this.#bytes = 0;
  }
}

/** Parses a payload as JSON. */
export function parse(payload: Uint8Array): unknown {
  return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString());
}
