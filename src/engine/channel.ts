import { callOut, describeThrown } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { uniqueName } from '../support/random.js';
import { makeKeepAlive, turnBegins } from '../support/timing.js';
import {
  decodeChunk,
  decodeMembers,
  decodeRan,
  decodeReply,
  decodeStream,
  encodeNumbers,
} from './addon/codec.js';
import { binding, startEngine } from './addon/loaded.js';
import {
  ASKED,
  DETACHED_OVER,
  FAILED,
  KEEPER_DIED,
  LISTENS,
  MEMBERS,
  type NativeChannel,
  type NativePipe,
  type NativeRecord,
  NEVER_STARTED,
  OUTPUT,
  RAN,
  REPLY,
  SANDBOX_GONE,
  STARTED,
  WITHDRAWN,
} from './addon/native.js';
import { onBehalfOfNobody } from './caller.js';
import type { OnExec } from './exec/exec-request.js';
import { Questions } from './exec/questions.js';
import type { CommandEvents, EngineCommand, EngineReply } from './message.js';

/** The name of this JavaScript environment, which serves its sandboxes, in their plans. */
export const SERVER = uniqueName();

/** This JavaScript environment's connection to the engine: its running commands and open requests. */
class Channel {
  /** Written by the addon before each dispatch; large enough that a batch is rarely divided. */
  readonly #figures = new Float64Array(4096);
  readonly native: NativeChannel = new (binding().Channel)(
    this.#figures,
    (records) => this.#dispatch(records),
    SERVER,
  );
  readonly #commands = new Map<number, CommandEvents>();
  readonly #requests = new Map<number, (reply: EngineReply) => void>();
  /** Commands whose end does not keep the host alive. */
  readonly #unheld = new Set<number>();
  /** Requests that do not keep the host alive. */
  readonly #unheldRequests = new Set<number>();
  /** Commands that are followed until their last process has ended; only then the addon may forget them. */
  readonly #followed = new Set<number>();
  /** Who answers questions about programs of detached commands, by their requests. */
  readonly #detached = new Map<number, OnExec>();
  readonly #questions = new Questions((keeper, number, answer) =>
    this.native.decide(keeper, number, answer),
  );
  #lastId = 0;
  // Keeps Node's event loop alive while something is awaited, since the engine does not.
  readonly #keepAlive = makeKeepAlive();

  /** Starts a command; returns its id. */
  run(owner: number, command: EngineCommand, events: CommandEvents): number {
    const id = this.#nextId();
    this.native.run(
      id,
      encodeNumbers(owner, events.started !== undefined, command),
      wordsOf(command) ?? command.text,
      command.shells,
      command.environment,
      command.directory,
      command.stdin,
      command.spillPath,
      command.sandbox?.plan,
      command.groups,
    );
    this.#commands.set(id, events);
    this.#keepAlive.ref();
    return id;
  }

  /** Sets whether the event loop stays alive until a command has ended. */
  hold(id: number, holds: boolean): void {
    if (!this.#commands.has(id)) return;
    if (holds) this.#unheld.delete(id);
    else this.#unheld.add(id);
    this.#weigh();
  }

  #weigh(): void {
    if (this.#isIdle()) this.#keepAlive.unref();
    else this.#keepAlive.ref();
  }

  #isIdle(): boolean {
    return (
      this.#commands.size === this.#unheld.size && this.#requests.size === this.#unheldRequests.size
    );
  }

  /**
   * Resolves when no process of a command is left; with false when that can no longer be known. Does not
   * keep the host alive.
   */
  whenGone(id: number): Promise<boolean> {
    const request = this.#nextId();
    this.#unheldRequests.add(request);
    this.#followed.add(id);
    return new Promise((resolve) => {
      this.#requests.set(request, (reply) => {
        this.#followed.delete(id);
        if (!this.#commands.has(id)) this.native.forget(id);
        resolve(reply.kind === 'done' && reply.value);
      });
      this.native.whenGone(id, request);
    });
  }

  /** Resolves when a pipe is ready; with false when it is closed. Does not keep the host alive. */
  whenReady(pipe: NativePipe, isForWriting: boolean): Promise<boolean> {
    const request = this.#nextId();
    this.#unheldRequests.add(request);
    return new Promise((resolve) => {
      this.#requests.set(request, (reply) => resolve(reply.kind === 'done' && reply.value));
      pipe.whenReady(request, isForWriting);
    });
  }

  /** Starts a detached command. `onExec` answers questions about its programs until it is over. */
  detached(onExec: OnExec | undefined, start: (request: number) => void): Promise<EngineReply> {
    return this.request((request) => {
      start(request);
      if (onExec !== undefined) this.#detached.set(request, onExec);
    });
  }

  /** Sends a request whose answer comes later. */
  request(ask: (request: number) => void): Promise<EngineReply> {
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

  #dispatch(records: readonly NativeRecord[]): void {
    turnBegins();
    // An error in one leaves the others to be told, and the host to go on.
    for (const record of records) callOut(() => this.#tell(record), warnOfEvent);
    if (this.#isIdle()) this.#keepAlive.unref();
  }

  #tell(record: NativeRecord): void {
    const id = record[1];
    switch (record[0]) {
      case STARTED:
        this.#commands.get(id)?.started?.(record[2]);
        break;
      case OUTPUT: {
        const [, , stream, chunks] = record;
        this.#commands.get(id)?.output?.(decodeStream(stream), chunks.map(decodeChunk));
        break;
      }
      case RAN:
        this.#end(id)?.ended(decodeRan(record, this.#figures));
        break;
      case NEVER_STARTED:
        this.#end(id)?.ended({ kind: 'neverStarted' });
        break;
      case FAILED: {
        const [, , step, errno, subject, message] = record;
        this.#end(id)?.ended({ kind: 'failed', step, errno, subject, message });
        break;
      }
      case KEEPER_DIED:
        warnHost(
          'The keeper, which runs the commands, was killed. Running commands go on; the next command ' +
            'starts another keeper.',
          'FORKLINE_KEEPER_KILLED',
        );
        break;
      case REPLY:
        this.#answer(id, decodeReply(record));
        break;
      case MEMBERS:
        this.#answer(id, decodeMembers(record));
        break;
      case LISTENS:
        sandboxes.serve(id, record[2], record[3], record[4]);
        break;
      case SANDBOX_GONE:
        sandboxes.leave(id);
        break;
      case ASKED:
        this.#questions.ask(record, this.#commands.get(id)?.asked ?? this.#detached.get(id));
        break;
      case WITHDRAWN:
        this.#questions.withdraw(record[2], record[3]);
        break;
      case DETACHED_OVER:
        this.#detached.delete(id);
    }
  }

  #answer(request: number, reply: EngineReply): void {
    const answer = this.#requests.get(request);
    this.#requests.delete(request);
    if (this.#unheldRequests.size > 0) this.#unheldRequests.delete(request);
    answer?.(reply);
  }

  #end(id: number): CommandEvents | undefined {
    const command = this.#commands.get(id);
    this.#commands.delete(id);
    if (this.#unheld.size > 0) this.#unheld.delete(id);
    if (this.#followed.size === 0 || !this.#followed.has(id)) this.native.forget(id);
    return command;
  }
}

function warnOfEvent(error: unknown): void {
  warnHost(`An event of a command could not be handled: ${describeThrown(error)}`);
}

/**
 * Returns a program and its arguments as the addon takes them: each ended by NUL, which shell text never
 * has.
 */
function wordsOf({ argv }: EngineCommand): string | undefined {
  return argv?.map((word) => `${word}\0`).join('');
}

/** Serves the sandboxes that reach the network through their host, each with a number. */
interface SandboxServer {
  /**
   * Takes a socket, and a pipe for the answer: a byte means that the socket is served; its end means that
   * it is not, and the sandbox is refused. The server has to close both.
   */
  readonly serve: (id: number, descriptor: number, answer: number, plan: string) => void;
  /** Called when the sandbox is gone, also for one that was never served. */
  readonly leave: (id: number) => void;
}

let sandboxes: SandboxServer = {
  serve: (_, descriptor, answer) => {
    binding().closeSocket(descriptor);
    binding().answerSandbox(answer, false);
  },
  leave: () => {},
};

/** Sets the server for later sandboxes. */
export function serveSandboxesBy(server: SandboxServer): void {
  sandboxes = server;
}

let opened: Channel | undefined;

/**
 * Returns the channel, opened when first needed.
 *
 * @throws {LaunchError} The engine cannot be started: no file descriptors are left, or the kernel is too
 * old.
 * @throws Error The addon is missing; the message says what to do.
 */
export function channel(): Channel {
  if (opened === undefined) {
    startEngine();
    // All callers share it, not only the first one.
    opened = onBehalfOfNobody(() => new Channel());
  }
  return opened;
}
