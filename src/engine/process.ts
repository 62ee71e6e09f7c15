import { signalNumber } from '../support/signals.js';
import { channel } from './channel.js';
import { engineName } from './choice.js';
import type {
  CommandEvents,
  CommandHandle,
  EngineCommand,
  EngineReply,
  Typing,
} from './message.js';
import type { BackgroundProcess, Capture } from './outcome.js';
import type { Owner } from './owner.js';
import { startPortable } from './portable/engine.js';
import type { EngineReport } from './sandbox-report.js';
import { errorCode } from './system-error.js';
import { toReport } from './told/report.js';

export type { CommandHandle } from './message.js';

/**
 * Starts commands: the boundary between a command's request and the place where it runs. Contracts,
 * command line and MCP server are the same if that is another process or machine.
 */
export interface CommandHost {
  /** Starts a command and reports its events, `ended` last. */
  start(owner: Owner, command: EngineCommand, events: CommandEvents): CommandHandle;
}

/** Whether the engine is the portable one, known from the first command on. */
let isPortable: boolean | undefined;

/** A command in the native engine, from its start to its end. */
export class EngineProcess implements CommandHandle {
  readonly #id: number;

  private constructor(id: number) {
    this.#id = id;
  }

  static start(owner: Owner, command: EngineCommand, events: CommandEvents): CommandHandle {
    isPortable ??= engineName() === 'portable';
    if (isPortable) return startPortable(owner, command, events);
    return new EngineProcess(channel().run(owner.id, command, events));
  }

  cancel(graceMs?: number): void {
    channel().native.cancel(this.#id, graceMs);
  }

  expire(): void {
    channel().native.expire(this.#id);
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

  async sandbox(): Promise<EngineReport | undefined> {
    const { native } = channel();
    const reply = await channel().request((request) => native.sandbox(this.#id, request));
    return reply.kind === 'text' ? toReport(reply.text) : undefined;
  }

  async typing(): Promise<Typing | undefined> {
    const { native } = channel();
    const reply = await channel().request((request) => native.typing(this.#id, request));
    return reply.kind === 'text' ? (reply.text as Typing) : undefined;
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
