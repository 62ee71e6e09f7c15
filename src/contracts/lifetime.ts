import { createOwner, type Owner } from '../engine/owner.js';
import { throwIfAborted } from '../support/abort.js';
import { UnderWay } from '../support/pending.js';
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
   * Answers a call. What goes wrong on the way becomes one of the errors that callers are told of.
   *
   * @throws {ToolError | ToolAbortError} See `BashTool.execute`.
   */
  async call<Answer>(
    signal: AbortSignal | undefined,
    answer: () => Promise<Answer>,
  ): Promise<Answer> {
    this.checkCall();
    try {
      return await answer();
    } catch (error) {
      throw toToolError(error, signal);
    }
  }

  /** @throws {ToolError} No call is answered any more. */
  checkCall(): void {
    if (this.disposal.aborted) throw new ToolError('disposed', 'The bash tool was disposed.');
  }

  /**
   * Whether a command of a call may still begin, after whatever the call had to wait for.
   *
   * @throws {ToolAbortError} The tool was disposed of meanwhile.
   * @throws What the signal was aborted with.
   */
  checkStart(signal: AbortSignal | undefined): void {
    throwIfAborted(signal);
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
