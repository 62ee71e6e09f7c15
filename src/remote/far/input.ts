import type { CommandHandle } from '../../faces/engine.js';
import type { Call } from '../wire/call.js';
import type { PartStore, StoredPart } from '../wire/part-store.js';
import type { CommandMessage } from '../wire/protocol.js';
import { describeError } from '../wire/thrown.js';

/** The input of a client's command: pieces are written one after the other, once it has started. */
export class ClientsInput {
  readonly #call: Call;
  readonly #handle: CommandHandle;
  readonly #store: PartStore | undefined;
  #writing: Promise<void>;

  /** @param started Settles once the command takes input. */
  constructor(
    call: Call,
    handle: CommandHandle,
    store: PartStore | undefined,
    started: Promise<void>,
  ) {
    this.#call = call;
    this.#handle = handle;
    this.#store = store;
    this.#writing = started;
  }

  /** Writes bytes that have come over the line; none: there are no more. */
  bytes(bytes: Uint8Array): void {
    if (bytes.length === 0) {
      this.#writing = this.#writing.then(() => this.#handle.endInput());
      return;
    }
    this.#writing = this.#writing.then(async () => {
      this.#say(await this.#write(bytes));
      this.#call.consumed(bytes.length);
    });
  }

  /** Writes a part that is in the store. */
  part(part: StoredPart): void {
    this.#writing = this.#writing.then(async () => {
      const bytes = await this.#store?.take(part);
      this.#say(bytes === undefined ? { untaken: part.name } : await this.#write(bytes));
    });
  }

  async #write(bytes: Uint8Array): Promise<CommandMessage> {
    try {
      await this.#handle.write(bytes);
      return { wrote: true };
    } catch (error) {
      return { wrote: false, error: describeError(error) };
    }
  }

  #say(message: CommandMessage): void {
    this.#call.send(message);
  }
}
