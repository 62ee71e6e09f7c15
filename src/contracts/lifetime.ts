import { createOwner, type Owner } from '../engine/owner.js';
import { isAbortSignal, throwIfAborted } from '../support/abort.js';
import { checkFunction, checkObject } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { UnderWay } from '../support/timing.js';
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
   * Answers a call. What goes wrong on the way becomes one of the errors that callers are told of.
   *
   * @throws {ToolError | ToolAbortError} See `BashTool.execute`.
   */
  async call<Details, Answer>(
    call: ToolCall<Details>,
    answer: () => Promise<Answer>,
  ): Promise<Answer> {
    this.checkCall(call);
    try {
      return await answer();
    } catch (error) {
      throw toToolError(error, call.signal);
    }
  }

  /** @throws {ToolError} No call is answered any more, or what comes with it is not valid. */
  checkCall<Details>(call: ToolCall<Details>): void {
    if (this.disposal.aborted) throw new ToolError('disposed', 'The bash tool was disposed.');
    try {
      checkToolCall(call);
    } catch (error) {
      throw toToolError(error, undefined);
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

/** @throws {InputError} Names what is wrong with what a runtime passes along with a call. */
function checkToolCall<Details>(call: ToolCall<Details>): void {
  // On every call's way, so that nothing else is entered for what is right.
  if (typeof call !== 'object' || call === null) checkObject('call', call);
  const { signal, onUpdate, onOutput } = call;
  if (signal !== undefined && !isAbortSignal(signal)) {
    throw new InputError(`signal: expected an AbortSignal, got ${showValue(signal)}`);
  }
  if (onUpdate !== undefined) checkFunction('onUpdate', onUpdate);
  if (onOutput !== undefined) checkFunction('onOutput', onOutput);
}
