import { loadBinding } from './binding.js';
import type {
  NativeBinding,
  NativeChannel,
  NativeChunk,
  NativeCommand,
  NativeEnd,
  NativeEvent,
  NativeReply,
} from './native.js';
import type { StreamName } from './outcome.js';

/** Who is told what happens to a command. No method may throw. */
export interface CommandEvents {
  started?(pid: number): void;
  output?(stream: StreamName, chunks: readonly NativeChunk[]): void;
  ended(end: NativeEnd): void;
}

let loaded: NativeBinding | undefined;

/** The addon, loaded when first needed. */
export function binding(): NativeBinding {
  loaded ??= loadBinding();
  return loaded;
}

/** This JavaScript environment's line to the engine: who waits for what. */
class Channel {
  readonly native: NativeChannel = new (binding().Channel)((events) => this.#dispatch(events));
  readonly #commands = new Map<number, CommandEvents>();
  readonly #requests = new Map<number, (reply: NativeReply) => void>();
  #lastId = 0;
  // The engine does not keep Node's event loop alive; what is awaited must.
  readonly #keepAlive = setInterval(() => {}, 2 ** 31 - 1).unref();

  /** Starts a command; returns its id. */
  run(owner: number, command: NativeCommand, events: CommandEvents): number {
    const id = this.#nextId();
    this.native.run(owner, id, events.started !== undefined, command);
    this.#commands.set(id, events);
    this.#keepAlive.ref();
    return id;
  }

  /** Asks something whose answer comes later. */
  request(ask: (request: number) => void): Promise<NativeReply> {
    const request = this.#nextId();
    return new Promise((resolve) => {
      ask(request);
      this.#requests.set(request, resolve);
      this.#keepAlive.ref();
    });
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #dispatch(events: readonly NativeEvent[]): void {
    for (const event of events) this.#tell(event);
    if (this.#commands.size === 0 && this.#requests.size === 0) this.#keepAlive.unref();
  }

  #tell(event: NativeEvent): void {
    if (event.kind === 'reply') {
      this.#requests.get(event.id)?.(event);
      this.#requests.delete(event.id);
      return;
    }
    const command = this.#commands.get(event.id);
    if (event.kind === 'started') command?.started?.(event.pid);
    else if (event.kind === 'output') command?.output?.(event.stream, event.chunks);
    else {
      this.#commands.delete(event.id);
      this.native.forget(event.id);
      command?.ended(event);
    }
  }
}

let opened: Channel | undefined;

/**
 * The channel, opened when first needed.
 *
 * @throws Error The addon is missing, or cannot work on this system; the message says why.
 */
export function channel(): Channel {
  opened ??= new Channel();
  return opened;
}
