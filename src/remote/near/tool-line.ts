import {
  CANCELLED,
  ToolAbortError,
  type ToolCall,
  type ToolResult,
} from '../../faces/contracts.js';
import { inCallersContext } from '../../faces/engine.js';
import type { TaskEvent } from '../../faces/tasks.js';
import { onAbort } from '../../support/abort.js';
import { InputError } from '../../support/errors.js';
import { Listener } from '../../support/listener.js';
import { lastBytes } from '../../support/text.js';
import { NoWorkerError, WorkerLostError } from '../errors.js';
import { traceOfCaller } from '../trace-context.js';
import type { Call, CallEvents } from '../wire/call.js';
import type {
  ArtifactQuestion,
  End,
  Executed,
  ExecuteMessage,
  MadeTool,
  Open,
  ToldTask,
  ToolMessage,
} from '../wire/protocol.js';
import { errorFrom } from '../wire/thrown.js';
import type { FarLine } from './machine.js';
import { plainData } from './plain.js';

/** Bytes of output that are kept in case the call is lost. */
const KEPT_BYTES = 64 * 1024;

const LINE_CLOSED = 'The line to the far side is closed; nothing was started.';
const TOOL_LOST =
  'The far side of this tool was lost, with its state; nothing was started. Another tool has to be made.';

/** The calls of one tool on a line: questions to it, and what it reports. */
export class ToolLine {
  readonly #line: FarLine;
  #call: Call | undefined;
  #end: () => void = () => {};
  readonly #ended: Promise<void>;
  #isDisposed = false;
  /** The directory where the tool's next command will start. */
  cwd = '';
  /** Called for each task that the tool has begun. */
  onTask: (task: ToldTask) => void = () => {};
  /** Called for events of tasks, after `subscribe()`. */
  onEvent: (event: TaskEvent) => void = () => {};
  /** Called with the reason when the line is lost. */
  onLost: (reason: string) => void = () => {};

  constructor(line: FarLine) {
    this.#line = line;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /**
   * Makes the tool on the far side.
   *
   * @throws Errors of `createBashTool()` there.
   */
  make(options: Readonly<Record<string, unknown>>): Promise<MadeTool> {
    return new Promise((resolve, reject) => {
      this.#call = this.#open(
        { op: 'tool', options },
        {
          message: (body) => this.#told(body as ToolMessage, resolve),
          ended: (body) => {
            this.#end();
            const end = body as ToolCallEnd<unknown>;
            if (!isUnsent(end) && 'error' in end) reject(errorFrom(end.error));
            else reject(new NoWorkerError('The connection was disposed of.'));
          },
          lost: (reason) => {
            this.#end();
            reject(new NoWorkerError(`The far side is gone: ${reason}`));
            this.onLost(reason);
          },
        },
      );
    });
  }

  /** Runs one call; errors of the far side are thrown here. */
  execute(
    name: string,
    input: unknown,
    { signal, onUpdate, onOutput }: ToolCall<unknown>,
  ): Promise<ToolResult<unknown>> {
    const self = { signal, onUpdate, onOutput };
    const updates = new Listener('onUpdate', onUpdate && inCallersContext(onUpdate, self));
    const outputs = new Listener('onOutput', onOutput && inCallersContext(onOutput, self));
    let tail = '';
    const trace = traceOfCaller();
    let hasStarted = false;
    const message = (body: ExecuteMessage): void => {
      hasStarted = true;
      if ('output' in body) {
        tail = lastBytes(tail + body.output.text, KEPT_BYTES);
        outputs.tell(body.output);
      } else {
        if (!outputs.isPresent) tail = body.update.content.map(({ text }) => text).join('');
        updates.tell(body.update);
      }
    };
    return new Promise((resolve, reject) => {
      let offAbort = (): void => {};
      const call = this.#open(
        {
          op: 'execute',
          tool: this.#id,
          name,
          input: input === undefined ? undefined : plainData('input', input),
          wantsUpdates: updates.isPresent,
          wantsOutput: outputs.isPresent,
          isCancelled: signal?.aborted ?? false,
          ...(trace && { trace }),
        },
        {
          message: (body) => message(body as ExecuteMessage),
          ended: (body) => {
            offAbort();
            const end = body as ToolCallEnd<Executed>;
            if (isUnsent(end)) return reject(new ToolAbortError(CANCELLED));
            if ('error' in end) return reject(errorFrom(end.error));
            this.cwd = end.value.cwd ?? this.cwd;
            resolve(end.value.result);
          },
          lost: (reason) => {
            offAbort();
            const started = hasStarted || 'unknown';
            reject(new WorkerLostError(reason, { started, output: tail }));
          },
        },
      );
      if (signal !== undefined) offAbort = onAbort(signal, () => call.cancel());
    });
  }

  /** Asks about the tool's artifacts. Bytes come as they are read. */
  ask<Value>(
    question: ArtifactQuestion,
    data: (bytes: Uint8Array) => void = () => {},
    send: (call: Call) => void = () => {},
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      const call = this.#open(
        { op: 'artifacts', tool: this.#id, ask: question },
        {
          data: (bytes) => {
            data(Buffer.from(bytes));
            call.consumed(bytes.length);
          },
          ended: (body) => {
            const end = body as ToolCallEnd<Value>;
            if (isUnsent(end)) reject(new NoWorkerError('The connection was disposed of.'));
            else if ('error' in end) reject(errorFrom(end.error));
            else resolve(end.value);
          },
          lost: (reason) => reject(new NoWorkerError(`The far side is gone: ${reason}`)),
        },
      );
      send(call);
    });
  }

  /** Asks for events of tasks that begin from now on. */
  subscribe(): void {
    this.#call?.send({ subscribe: true });
  }

  /** Follows a task of the tool. */
  follow(id: string, events: CallEvents): Call {
    return this.#open({ op: 'task', tool: this.#id, id }, events);
  }

  /** Disposes of the tool, and so ends all that it has started there. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#call?.hold(true);
    this.#call?.cancel();
    await this.#ended;
  }

  get #id(): number {
    return this.#call?.id ?? 0;
  }

  #told(body: ToolMessage, made: (tool: MadeTool) => void): void {
    if ('task' in body) {
      this.onTask(body.task);
      return;
    }
    if ('event' in body) {
      this.onEvent(body.event);
      return;
    }
    this.cwd = body.cwd ?? '';
    // An idle tool keeps no process alive.
    this.#call?.hold(false);
    made(body);
  }

  #open(body: Open, events: CallEvents): Call {
    const { wire, maxBytes, isDisposed } = this.#line;
    if (isDisposed()) {
      throw new NoWorkerError('The connection was disposed of; nothing was started.');
    }
    if (wire.isClosed) {
      throw new NoWorkerError(this.#call === undefined ? LINE_CLOSED : TOOL_LOST);
    }
    const bytes = Buffer.byteLength(JSON.stringify(body));
    if (bytes > maxBytes) {
      throw new InputError(`input: expected at most ${maxBytes} bytes as JSON, got ${bytes}`);
    }
    return wire.open(body, events);
  }
}

/** How a call has ended; the first two: it was cancelled before the far side had read it. */
type ToolCallEnd<Value> = undefined | { readonly neverStarted: true } | End<Value>;

function isUnsent<Value>(
  end: ToolCallEnd<Value>,
): end is undefined | { readonly neverStarted: true } {
  return end === undefined || 'neverStarted' in end;
}
