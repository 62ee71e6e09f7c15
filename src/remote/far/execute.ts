import type { ToolResult } from '../../faces/contracts.js';
import type { OutputChunk, StreamName } from '../../faces/engine.js';
import type { Call } from '../wire/call.js';
import { WINDOW } from '../wire/lane.js';
import type { End, Executed, ExecuteMessage, OpenExecute } from '../wire/protocol.js';
import { describeError } from '../wire/thrown.js';
import type { ClientsTool } from './tool.js';

/**
 * Runs one call of a client's tool.
 *
 * @throws {InputError} The client has no tool of this name.
 */
export function executeForClient(call: Call, open: OpenExecute, clients: ClientsTool): void {
  const tool = clients.named(open.name);
  const controller = new AbortController();
  if (open.isCancelled) controller.abort();
  const listener = new SlowListener(call);
  call.events = {
    cancelled: () => controller.abort(),
    room: () => listener.room(),
    // The client has gone, and its tool ends with it.
    lost: () => controller.abort(),
  };
  const running = tool.execute(open.input, {
    signal: controller.signal,
    onUpdate: open.wantsUpdates ? (update) => listener.update(update) : undefined,
    onOutput: open.wantsOutput ? (chunk) => listener.output(chunk) : undefined,
  });
  void clients.add(conclude(call, running, clients));
}

async function conclude(
  call: Call,
  running: Promise<ToolResult<unknown>>,
  clients: ClientsTool,
): Promise<void> {
  let end: End<Executed>;
  try {
    const result = await running;
    end = { value: { result, cwd: clients.cwd } };
  } catch (error) {
    end = { error: describeError(error) };
  }
  call.finish(end);
}

/** Sends updates and output of a running call, no more than the line takes. */
class SlowListener {
  readonly #call: Call;
  /**
   * The last update that has not been sent, while another is being sent; older ones are dropped.
   */
  #update: ToolResult<object> | undefined;
  /** Bytes that were left out, by stream. */
  readonly #dropped = new Map<StreamName, number>();

  constructor(call: Call) {
    this.#call = call;
  }

  update(update: ToolResult<object>): void {
    if (this.#call.waiting > 0) this.#update = update;
    else this.#say({ update });
  }

  output(chunk: OutputChunk): void {
    const { stream, text } = chunk;
    const dropped = (this.#dropped.get(stream) ?? 0) + chunk.droppedBytes;
    if (this.#call.waiting > WINDOW) {
      this.#dropped.set(stream, dropped + Buffer.byteLength(text));
      return;
    }
    this.#dropped.delete(stream);
    this.#say({ output: { stream, text, droppedBytes: dropped } });
  }

  /** Sends the kept update, now that everything before it has been sent. */
  room(): void {
    const update = this.#update;
    this.#update = undefined;
    if (update !== undefined) this.#say({ update });
  }

  #say(message: ExecuteMessage): void {
    this.#call.send(message);
  }
}
