import type { ArtifactRange, ArtifactStore } from '../../faces/artifacts.js';
import { InputError } from '../../support/errors.js';
import type { Call } from '../wire/call.js';
import { SENT_PAYLOAD } from '../wire/lane.js';
import type { ArtifactQuestion } from '../wire/protocol.js';
import { describeError } from '../wire/thrown.js';
import type { ClientsTool } from './tool.js';

/** Bytes of a file that are in memory at a time. */
const SLICE = 8 * SENT_PAYLOAD;

/**
 * Answers a client's question about its tool's artifacts.
 *
 * @throws {InputError} The tool keeps no artifacts.
 */
export function answerArtifacts(call: Call, ask: ArtifactQuestion, clients: ClientsTool): void {
  const { tool } = clients;
  const store = 'artifacts' in tool ? (tool.artifacts as ArtifactStore | undefined) : undefined;
  if (store === undefined) throw new InputError('artifacts: expected a tool that keeps artifacts');
  void clients.add(conclude(call, new Answering(call, store).answer(ask)));
}

async function conclude(call: Call, answering: Promise<unknown>): Promise<void> {
  try {
    call.finish({ value: (await answering) ?? null });
  } catch (error) {
    call.finish({ error: describeError(error) });
  }
}

class Answering {
  readonly #call: Call;
  readonly #store: ArtifactStore;
  #isWanted = true;
  #go: () => void = () => {};

  constructor(call: Call, store: ArtifactStore) {
    this.#call = call;
    this.#store = store;
    const stop = (): void => {
      this.#isWanted = false;
      this.#go();
    };
    call.events = { room: () => this.#go(), cancelled: stop, lost: stop };
  }

  async answer(ask: ArtifactQuestion): Promise<unknown> {
    switch (ask.kind) {
      case 'list':
        return this.#store.list();
      case 'find':
        return this.#store.find(ask.id);
      case 'save':
        return this.#store.save(ask.tool, await this.#received());
      case 'read':
        return this.#read(ask.id, ask.range as ArtifactRange | undefined);
    }
  }

  async #read(id: string, range: ArtifactRange | undefined): Promise<void> {
    // Only the side that has the file can count lines.
    if (range?.unit === 'lines') return this.#send(await this.#store.read(id, range));
    const { start = 0, end } = range ?? {};
    // Throws if the range is wrong.
    if (range !== undefined) {
      await this.#store.read(id, { ...range, end: Math.min(end ?? start, start) });
    }
    const until = end ?? Number.POSITIVE_INFINITY;
    for (let at = start; at < until && this.#isWanted; at += SLICE) {
      const last = Math.min(at + SLICE, until);
      const bytes = await this.#store.read(id, { unit: 'bytes', start: at, end: last });
      await this.#send(bytes);
      if (bytes.length < last - at) break;
    }
  }

  async #send(bytes: Uint8Array): Promise<void> {
    this.#call.sendData(bytes);
    while (this.#call.waiting > 0 && this.#isWanted) {
      await new Promise<void>((resolve) => {
        this.#go = resolve;
      });
    }
  }

  /** Collects the bytes that the client sends for an artifact. */
  #received(): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    return new Promise((resolve) => {
      this.#call.events = {
        ...this.#call.events,
        data: (bytes) => {
          if (bytes.length === 0) resolve(Buffer.concat(pieces));
          pieces.push(Buffer.from(bytes));
          this.#call.consumed(bytes.length);
        },
      };
    });
  }
}
