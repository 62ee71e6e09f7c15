import { createOwner, type Owner } from '../engine/owner.js';
import { throwIfAborted } from '../support/abort.js';
import { UnderWay } from '../support/timing.js';
import { callOfNow } from './call-listeners.js';
import type { ToolCall } from './contract.js';
import { ToolAbortError, ToolError, toToolError } from './errors.js';
import { CANCELLED } from './notices.js';

/** A tool from its making to its disposal: what it has started, and what may still begin. */
export class Lifetime {
  /** The owner of all commands of the tool. */
  readonly owner: Owner = createOwner();
  readonly #running = new UnderWay();
  readonly #disposal = new AbortController();

  /** Aborted when its end begins. */
  get disposal(): AbortSignal {
    return this.#disposal.signal;
  }

  /**
   * Answers a call, as each tool's `execute()` does. What goes wrong on the way becomes one of the
   * errors that callers are told of.
   *
   * @param answer Is given the call as it was when it was made.
   * @throws {ToolError | ToolAbortError} See `BashTool.execute`.
   */
  async call<Details, Answer>(
    input: unknown,
    given: ToolCall<Details> | undefined,
    answer: (input: unknown, call: ToolCall<Details>) => Promise<Answer>,
  ): Promise<Answer> {
    if (this.disposal.aborted) throw new ToolError('disposed', 'The bash tool was disposed.');
    let call: ToolCall<Details> | undefined;
    try {
      call = callOfNow(given, input);
      return await answer(input, call);
    } catch (error) {
      throw toToolError(error, call?.signal);
    }
  }

  /**
   * Whether a command of a call may still begin, after whatever the call had to wait for.
   *
   * @throws {ToolAbortError} The tool was disposed of meanwhile.
   * @throws What the signal was aborted with.
   */
  checkStart(signal: AbortSignal | undefined): void {
    if (signal) throwIfAborted(signal);
    this.disposal.throwIfAborted();
  }

  /** Work that its end has to wait for. */
  add<T>(work: Promise<T>): Promise<T> {
    return this.#running.add(work);
  }

  /** Ends whatever it has started; settles when everything has. */
  async end(graceMs: number): Promise<void> {
    this.#disposal.abort(new ToolAbortError(CANCELLED));
    await this.owner.dispose(graceMs);
    await this.#running.settled();
  }
}
