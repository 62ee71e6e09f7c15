import type {
  BackgroundProcess,
  Capture,
  CommandEvents,
  CommandHandle,
  CommandHost,
  EngineCommand,
  EngineEnd,
  Owner,
} from '../../faces/engine.js';
import { lastBytes } from '../../support/text.js';
import { nextTurn } from '../../support/timing.js';
import { NoWorkerError, WorkerLostError } from '../errors.js';
import { traceOfCaller } from '../trace-context.js';
import type { Call } from '../wire/call.js';
import { readPiece, type SentChunk } from '../wire/chunks.js';
import type { PartStore } from '../wire/part-store.js';
import type {
  CommandAnswer,
  CommandMessage,
  CommandRequest,
  FarEnd,
  OpenCommand,
  PlainCommandOptions,
} from '../wire/protocol.js';
import { errorFrom } from '../wire/thrown.js';
import type { Wire } from '../wire/wire.js';
import { FarQuestions } from './far-questions.js';
import { FarInput } from './input.js';

/** Bytes of output that are kept in case the command is lost. */
const KEPT_BYTES = 64 * 1024;

/**
 * Returns the far side as a place where one command runs.
 *
 * @param options The options that are sent, without those that stay on this side.
 */
export function farHost(reached: Reached, options: PlainCommandOptions): CommandHost {
  return {
    start: (owner, command, events) => new FarProcess(reached, options, owner, command, events),
  };
}

/** The ways to a far side. */
export interface Reached {
  readonly wire: Wire;
  /** The store that both sides reach; absent: there is none. */
  readonly parts?: PartStore | undefined;
  /** Whether commands do nothing but hold what goes with a tool. Default: no. */
  readonly holds?: boolean;
}

/** A command on the far side, from its start to its end. */
class FarProcess implements CommandHandle {
  readonly #call: Call | undefined;
  readonly #events: CommandEvents;
  readonly #asked: FarQuestions;
  readonly #listen: EngineCommand['listen'];
  readonly #input: FarInput;
  readonly #questions = new Map<number, (value: CommandAnswer) => void>();
  #lastQuestion = 0;
  /** Output that waits for the listener. */
  readonly #waiting: SentChunk[] = [];
  #delivered = 0;
  #isListening: boolean;
  #isReady = true;
  #isDelivering = false;
  #hasStarted = false;
  /** The last output, in pieces. */
  readonly #recent: Uint8Array[] = [];
  #recentBytes = 0;
  /** The end of the output, as the far side reports it while the caller does not listen. */
  #tail = '';

  constructor(
    { wire, parts, holds = false }: Reached,
    options: PlainCommandOptions,
    _owner: Owner,
    { text, argv, stdin, listen, pause }: EngineCommand,
    events: CommandEvents,
  ) {
    this.#events = events;
    this.#asked = new FarQuestions(events.asked, (question, answer) =>
      this.#do({ do: 'decide', question, answer }),
    );
    this.#listen = listen;
    this.#isListening = listen !== undefined;
    if (wire.isClosed) {
      this.#input = new FarInput(undefined, undefined);
      // The caller gets no event before the start has returned.
      nextTurn().then(() => this.#end({ kind: 'lost', error: nobody() }));
      return;
    }
    const trace = traceOfCaller();
    const open: OpenCommand = {
      op: 'command',
      line: argv ?? text,
      options,
      tellsStart: events.started !== undefined,
      hasInput: stdin !== false,
      listen: listen ?? null,
      pause,
      ...(events.asked && { hears: true }),
      ...(holds && { holds }),
      ...(trace && { trace }),
    };
    this.#call = wire.open(open, {
      message: (body) => this.#message(body as CommandMessage),
      data: (bytes) => this.#output(bytes),
      ended: (body) => this.#ended(body as FarEnd | undefined),
      lost: (reason) => this.#lost(reason),
    });
    this.#input = new FarInput(this.#call, parts);
    if (typeof stdin === 'object') {
      // Input that the command does not read is no failure of the call.
      this.write(stdin).catch(() => {});
      this.endInput();
    }
  }

  cancel(graceMs?: number): void {
    this.#call?.cancel(graceMs === undefined ? {} : { graceMs });
  }

  /** The far side keeps the time itself. */
  expire(): void {
    this.cancel();
  }

  resume(): void {
    this.#isReady = true;
    this.#call?.consumed(this.#delivered);
    this.#delivered = 0;
    // No output is delivered during the call of `resume()`, as with the engine.
    if (!this.#isDelivering && this.#waiting.length > 0) queueMicrotask(() => this.#deliver());
  }

  detach(): void {
    this.#isListening = false;
    this.#do({ do: 'detach' });
    this.#isReady = true;
    this.#deliver();
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }

  endInput(): void {
    this.#input.end();
  }

  resize(columns: number, rows: number): void {
    this.#do({ do: 'resize', columns, rows });
  }

  async signal(signal: NodeJS.Signals): Promise<boolean> {
    return (await this.#ask({ what: 'signal', signal })) === true;
  }

  holdHost(holds: boolean): void {
    this.#call?.hold(holds);
  }

  async snapshot(): Promise<readonly Capture[] | undefined> {
    const answer = await this.#ask({ what: 'snapshot' });
    return Array.isArray(answer) ? (answer as readonly Capture[]) : undefined;
  }

  async members(): Promise<readonly BackgroundProcess[] | undefined> {
    const answer = await this.#ask({ what: 'members' });
    return Array.isArray(answer) ? (answer as readonly BackgroundProcess[]) : undefined;
  }

  /** Returns false: members are not followed from this side. */
  async gone(): Promise<boolean> {
    return false;
  }

  #do(request: CommandRequest): void {
    this.#call?.send(request);
  }

  async #ask(question: Question): Promise<CommandAnswer> {
    const call = this.#call;
    if (call === undefined || call.isOver) return null;
    this.#lastQuestion += 1;
    const ask = this.#lastQuestion;
    return new Promise((resolve) => {
      this.#questions.set(ask, resolve);
      call.send({ ask, ...question });
    });
  }

  #message(message: CommandMessage): void {
    if ('started' in message) {
      this.#hasStarted = true;
      this.#events.started?.(message.started);
    } else if ('tail' in message) {
      this.#tail = message.tail;
    } else if ('wrote' in message || 'untaken' in message) {
      this.#input.told(message);
    } else if ('mayRun' in message) {
      this.#asked.ask(message.mayRun, message.request);
    } else if ('withdrawn' in message) {
      this.#asked.withdraw(message.withdrawn);
    } else {
      this.#questions.get(message.answer)?.(message.value);
      this.#questions.delete(message.answer);
    }
  }

  #output(payload: Uint8Array): void {
    this.#hasStarted = true;
    const chunk = readPiece(payload);
    this.#keep(chunk.bytes);
    this.#waiting.push(chunk);
    this.#deliver();
  }

  #keep(bytes: Uint8Array): void {
    this.#recent.push(bytes);
    this.#recentBytes += bytes.length;
    const [oldest] = this.#recent;
    if (oldest === undefined || this.#recentBytes - oldest.length < KEPT_BYTES) return;
    this.#recent.shift();
    this.#recentBytes -= oldest.length;
  }

  /** Delivers output piece by piece, as fast as the listener takes it. */
  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    while (this.#isReady) {
      const chunk = this.#waiting.shift();
      if (chunk === undefined) break;
      // With the header of the piece: its stream, and how much was lost.
      const size = chunk.bytes.length + 9;
      if (!this.#isListening) {
        this.#call?.consumed(size);
        continue;
      }
      this.#isReady = false;
      this.#delivered += size;
      const { stream, bytes, droppedBytes } = chunk;
      const data = this.#listen === 'bytes' ? bytes : Buffer.from(bytes).toString();
      this.#events.output?.(stream, [{ data, droppedBytes }]);
    }
    this.#isDelivering = false;
  }

  #ended(end: FarEnd | undefined): void {
    if (end === undefined || 'neverStarted' in end) this.#end({ kind: 'neverStarted' });
    else if ('failed' in end) this.#end({ kind: 'failed', ...end.failed });
    else if ('error' in end) this.#end({ kind: 'lost', error: errorFrom(end.error) });
    else this.#end({ kind: 'ran', ...end.ran });
  }

  #lost(reason: string): void {
    const started = this.#hasStarted || 'unknown';
    const output = lastBytes(Buffer.concat(this.#recent).toString(), KEPT_BYTES) || this.#tail;
    this.#end({ kind: 'lost', error: new WorkerLostError(reason, { started, output }) });
  }

  #end(end: EngineEnd): void {
    this.#input.close(end.kind === 'lost');
    for (const answer of this.#questions.values()) answer(null);
    this.#questions.clear();
    this.#asked.close();
    // All output comes before the end; it is bounded, as the line is.
    while (this.#waiting.length > 0) {
      this.#isReady = true;
      this.#deliver();
    }
    this.#events.ended(end);
  }
}

type Question =
  | { readonly what: 'snapshot' | 'members' }
  | { readonly what: 'signal'; readonly signal: NodeJS.Signals };

function nobody(): Error {
  return new NoWorkerError('The line to the far side is closed; nothing was started.');
}
