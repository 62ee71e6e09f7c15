import { signalNumber } from '../support/signals.js';
import { channel } from './channel.js';
import type { CommandEvents, EngineCommand, EngineReply } from './message.js';
import type { BackgroundProcess, Capture } from './outcome.js';
import type { Owner } from './owner.js';
import { errorCode } from './system-error.js';

/**
 * What starts commands: the seam between what is asked of a command and where it runs. Contracts,
 * command line and MCP server stay as they are if that is another process one day, or a machine.
 */
export interface CommandHost {
  /** Starts one; all that happens to it is told by its events, `ended` last. */
  start(owner: Owner, command: EngineCommand, events: CommandEvents): CommandHandle;
}

/** What can be done with a command under way. None of it throws when it is over. */
export interface CommandHandle {
  /** Ends it: SIGTERM, grace, SIGKILL. `graceMs` in place of its own. */
  cancel(graceMs?: number): void;
  /** Its listener can take another delivery. */
  resume(): void;
  /** Its listener has left, and no longer holds it up. */
  detach(): void;
  /** Resolves once the bytes are in the pipe; rejects when nobody can read them any more. */
  write(bytes: Uint8Array): Promise<void>;
  /** End of file, once all is written. */
  endInput(): void;
  /** Its terminal has another size from now on. */
  resize(columns: number, rows: number): void;
  /** Signals its process group; false when it is over. */
  signal(signal: NodeJS.Signals): Promise<boolean>;
  /** Whether the host stays alive until it is over. It does unless it is told otherwise. */
  holdHost(holds: boolean): void;
  /** What it has printed so far; undefined when it is over. */
  snapshot(): Promise<readonly Capture[] | undefined>;
  /** Who of it runs now; undefined: that could not be looked at. */
  members(): Promise<readonly BackgroundProcess[] | undefined>;
  /**
   * Resolves when nobody of it is left, and does not keep the host alive for that; false: nobody can
   * tell any more. To be asked while it runs; `members()` and `cancel()` then work until it resolves.
   */
  gone(): Promise<boolean>;
}

/** A command in the engine of this process, from its start to its end. */
export class EngineProcess implements CommandHandle {
  readonly #id: number;

  private constructor(id: number) {
    this.#id = id;
  }

  static start(owner: Owner, command: EngineCommand, events: CommandEvents): EngineProcess {
    return new EngineProcess(channel().run(owner.id, command, events));
  }

  cancel(graceMs?: number): void {
    channel().native.cancel(this.#id, graceMs);
  }

  resume(): void {
    channel().native.resume(this.#id);
  }

  detach(): void {
    channel().native.detach(this.#id);
  }

  async write(bytes: Uint8Array): Promise<void> {
    const { native } = channel();
    throwIfFailed(await channel().request((request) => native.write(this.#id, request, bytes)));
  }

  endInput(): void {
    channel().native.endInput(this.#id);
  }

  resize(columns: number, rows: number): void {
    channel().native.resize(this.#id, columns, rows);
  }

  async signal(signal: NodeJS.Signals): Promise<boolean> {
    const { native } = channel();
    const number = signalNumber(signal) ?? 0;
    const reply = await channel().request((request) => native.signal(this.#id, request, number));
    return reply.kind === 'done' && reply.value;
  }

  holdHost(holds: boolean): void {
    channel().hold(this.#id, holds);
  }

  async snapshot(): Promise<readonly Capture[] | undefined> {
    const { native } = channel();
    const reply = await channel().request((request) => native.snapshot(this.#id, request));
    return reply.kind === 'captures' ? reply.captures : undefined;
  }

  async members(): Promise<readonly BackgroundProcess[] | undefined> {
    const { native } = channel();
    const reply = await channel().request((request) => native.members(this.#id, request));
    return reply.kind === 'members' ? reply.members : undefined;
  }

  gone(): Promise<boolean> {
    return channel().whenGone(this.#id);
  }
}

function throwIfFailed(reply: EngineReply): void {
  if (reply.kind !== 'failed') return;
  const code = errorCode(reply.errno);
  const error = new Error(`${code}: ${reply.message}`);
  throw Object.assign(error, { code, errno: reply.errno });
}
