import { constants } from 'node:os';
import { channel } from './channel.js';
import type { CommandEvents, EngineCommand, EngineReply } from './message.js';
import type { Capture } from './outcome.js';
import type { Owner } from './owner.js';
import { errorCode } from './system-error.js';

/** A command in the engine, from its start to its end. */
export class EngineProcess {
  readonly #id: number;

  private constructor(id: number) {
    this.#id = id;
  }

  static start(owner: Owner, command: EngineCommand, events: CommandEvents): EngineProcess {
    return new EngineProcess(channel().run(owner.id, command, events));
  }

  /** Ends it: SIGTERM, grace, SIGKILL. `graceMs` in place of its own. */
  cancel(graceMs?: number): void {
    channel().native.cancel(this.#id, graceMs);
  }

  /** Its listener can take another delivery. */
  resume(): void {
    channel().native.resume(this.#id);
  }

  /** Its listener has left, and no longer holds it up. */
  detach(): void {
    channel().native.detach(this.#id);
  }

  /** Resolves once the bytes are in the pipe. */
  async write(bytes: Uint8Array): Promise<void> {
    const { native } = channel();
    throwIfFailed(await channel().request((request) => native.write(this.#id, request, bytes)));
  }

  /** End of file, once all is written. */
  endInput(): void {
    channel().native.endInput(this.#id);
  }

  /** Its terminal has another size from now on. */
  resize(columns: number, rows: number): void {
    channel().native.resize(this.#id, columns, rows);
  }

  /** Signals its process group; false when it is over. */
  async signal(signal: NodeJS.Signals): Promise<boolean> {
    const { native } = channel();
    const number = constants.signals[signal];
    const reply = await channel().request((request) => native.signal(this.#id, request, number));
    return reply.kind === 'done' && reply.value;
  }

  /** What it has printed so far; undefined when it is over. */
  async snapshot(): Promise<readonly Capture[] | undefined> {
    const { native } = channel();
    const reply = await channel().request((request) => native.snapshot(this.#id, request));
    return reply.kind === 'captures' ? reply.captures : undefined;
  }
}

function throwIfFailed(reply: EngineReply): void {
  if (reply.kind !== 'failed') return;
  const code = errorCode(reply.errno);
  const error = new Error(`${code}: ${reply.message}`);
  throw Object.assign(error, { code, errno: reply.errno });
}
