import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server';
import { showValue } from '../../support/errors.js';
import { type Fault, faultOf, isObject, type JsonObject, PARSE_ERROR } from '../message-fault.js';

/** Revisions without `initialize`, which a request may name for itself. */
const CLAIMED_REVISIONS: readonly string[] = ['2026-07-28'];

const INVALID_REQUEST = -32600;
const NEWLINE = 0x0a;

/** Callbacks of the gate. */
interface GateEvents {
  /** Passes on a message that may come now. */
  pass(message: JSONRPCMessage): void;
  /** Answers a line, or a message in it, that is not passed on. */
  answer(id: string | number | null, fault: Fault): void;
  /** Reports an error to the owner of the server. */
  report(error: Error): void;
}

/**
 * Lets the messages of a client through, one a line. Answers lines that are no message or come out of
 * turn: the SDK's transport drops those, and the client would wait for ever. A batch, as revision
 * 2025-03-26 has them, becomes the messages that it consists of; each is answered by itself.
 */
export class Gate {
  readonly #events: GateEvents;
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #length = 0;
  #opened = false;

  /**
   * Makes a gate.
   *
   * @param maxBytes Bytes of one line; a longer line ends the connection.
   */
  constructor(maxBytes: number, events: GateEvents) {
    this.#events = events;
    this.#maxBytes = maxBytes;
  }

  /**
   * Takes bytes that were read.
   *
   * @throws {Error} A line is too long.
   */
  take(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      this.#add(chunk.subarray(start, end));
      start = end + 1;
      this.#judge(this.#line());
    }
    this.#add(chunk.subarray(start));
    if (this.#length > this.#maxBytes) {
      throw new Error(`a message has more than ${this.#maxBytes} bytes`);
    }
  }

  /** Returns the bytes of a line whose end has come, as text. */
  #line(): string {
    const [first, ...more] = this.#chunks;
    const bytes = more.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#length = 0;
    return bytes?.toString() ?? '';
  }

  #add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#length += bytes.length;
  }

  #judge(line: string): void {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.#refuse(
        null,
        { code: PARSE_ERROR, message: 'Parse error: expected a line of JSON' },
        line,
      );
      return;
    }
    if (!Array.isArray(value)) {
      this.#pass(value, false);
    } else if (value.length === 0) {
      const message = 'Invalid request: a batch has at least one message';
      this.#refuse(null, { code: INVALID_REQUEST, message }, value);
    } else {
      for (const each of value) this.#pass(each, true);
    }
  }

  #pass(message: unknown, batched: boolean): void {
    // A response needs no answer; the SDK checks whether it belongs to one of its requests.
    if (isResponse(message)) {
      this.#events.pass(message);
      return;
    }
    const fault = faultOf(message) ?? this.#outOfTurn(message, batched);
    if (fault === undefined) this.#events.pass(message as JSONRPCMessage);
    else if (isObject(message) && isId(message.id)) this.#refuse(message.id, fault, message);
    else if (isObject(message) && isNotification(message)) this.#report(fault, message);
    else this.#refuse(null, fault, message);
  }

  /** Returns the fault of a message that is well-formed, but may not come now. */
  #outOfTurn(message: unknown, batched: boolean): Fault | undefined {
    if (!isObject(message) || message.id === undefined) return undefined;
    const claimed = claimOf(message.params);
    if (claimed !== undefined) return claimFault(claimed);
    if (message.method === 'initialize') {
      if (batched) return refusal('initialize comes alone, not in a batch');
      this.#opened = true;
    } else if (!this.#opened && message.method !== 'ping') {
      return refusal('the connection is not open: send initialize first');
    }
    return undefined;
  }

  #refuse(id: string | number | null, fault: Fault, what: unknown): void {
    this.#report(fault, what);
    this.#events.answer(id, fault);
  }

  #report({ message }: Fault, what: unknown): void {
    this.#events.report(new Error(`${message}, got ${showValue(what)}`));
  }
}

/**
 * Returns whether a message is a response. One with a method is none; this test first saves the SDK's
 * check, which costs 30 µs for other messages.
 */
function isResponse(message: unknown): message is JSONRPCMessage {
  if (!isObject(message) || 'method' in message) return false;
  return isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || Number.isInteger(id);
}

/** Returns whether a message has no id, and so wants no answer. */
function isNotification(message: JsonObject): boolean {
  return typeof message.method === 'string' && !('id' in message);
}

function refusal(why: string): Fault {
  return { code: INVALID_REQUEST, message: `Invalid request: ${why}` };
}

function claimOf(params: unknown): unknown {
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) ? meta[PROTOCOL_VERSION_META_KEY] : undefined;
}

function claimFault(claimed: unknown): Fault | undefined {
  if (typeof claimed !== 'string' || CLAIMED_REVISIONS.includes(claimed)) return undefined;
  const { code, message, data } = new UnsupportedProtocolVersionError({
    supported: [...CLAIMED_REVISIONS],
    requested: claimed,
  });
  return { code, message, data };
}
