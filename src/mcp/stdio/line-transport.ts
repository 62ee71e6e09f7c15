import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { serializeMessage } from '@modelcontextprotocol/server';
import { errorOf } from '../../support/errors.js';
import { Gate } from './gate.js';

/**
 * A connection with one message a line. It replaces the SDK's transport, which would parse and check
 * each message once more after the gate.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Settles when the connection has ended, on whatever side and at whatever point. */
  readonly ended: Promise<void>;

  readonly #input: Readable;
  readonly #output: Writable;
  readonly #gate: Gate;
  #closed = false;
  #end: () => void = () => {};

  /**
   * Makes a connection.
   *
   * @param maxBytes Bytes of one message; a longer one ends the connection.
   */
  constructor(input: Readable, output: Writable, maxBytes: number) {
    this.#input = input;
    this.#output = output;
    this.#gate = new Gate(maxBytes, {
      pass: (message) => this.#pass(message),
      report: (error) => this.onerror?.(error),
      answer: (id, error) =>
        void output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`),
    });
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async start(): Promise<void> {
    const input = this.#input;
    // The input may have ended before the start.
    if (input.readableEnded || input.destroyed) setImmediate(this.#onEnd);
    input.on('data', this.#onData);
    input.on('error', this.#onInputError);
    input.on('end', this.#onEnd);
    // Every end counts, also a close without an `end` event.
    input.on('close', this.#onEnd);
    this.#output.on('error', this.#onOutputError);
  }

  /**
   * Sends a message. Settles when it is on its way to the client, however slowly the client reads.
   */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('the connection has ended'));
    return new Promise((resolve, reject) => {
      this.#output.write(serializeMessage(message), (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const input = this.#input;
    input.off('data', this.#onData);
    input.off('end', this.#onEnd);
    input.off('close', this.#onEnd);
    // The listeners for errors stay: a late error must not end the process.
    if (input.listenerCount('data') === 0) input.pause();
    this.onclose?.();
    this.#end();
  }

  #pass(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(errorOf(error));
    }
  }

  readonly #onData = (chunk: Buffer): void => {
    try {
      this.#gate.take(chunk);
    } catch (error) {
      this.onerror?.(errorOf(error));
      void this.close();
    }
  };

  readonly #onEnd = (): void => void this.close();

  readonly #onInputError = (error: Error): void => {
    if (!this.#closed) this.onerror?.(error);
  };

  readonly #onOutputError = (error: Error): void => {
    if (this.#closed) return;
    this.onerror?.(new Error(`the client can't be written to: ${error.message}`, { cause: error }));
    void this.close();
  };
}
