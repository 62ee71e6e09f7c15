import type { OutputChunk } from '../engine/outcome.js';
import { isAbortSignal } from '../support/abort.js';
import { checkFunction, checkObject, isMissing } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { Listener } from '../support/listener.js';
import type { ToolCall, ToolResult } from './contract.js';
import { TailUpdates } from './tail-updates.js';
import { labelOf } from './validate.js';

/** What an update shows. */
export interface UpdateOptions {
  /** UTF-8 bytes of output that an update carries at most. Default: 51,200. */
  readonly maxBytes?: number | undefined;
  /** Makes what is shown of the raw text. Default: it is shown as it is. */
  readonly toShown?: ((text: string) => string) | undefined;
  /** The last output is asked for although nobody gets updates. Default: false. */
  readonly keepsTail?: boolean | undefined;
}

/** What a command that goes on after its call has been answered tells at its end. */
export interface LastUpdate<Details> {
  readonly text: string;
  readonly details: Partial<Details>;
}

const UPDATE_INTERVAL_MS = 50;
const DEFAULT_MAX_BYTES = 50 * 1024;

/** Those who listen to one call: to the last output so far, and to all of it as it comes. */
export class CallListeners<Details> {
  readonly #onUpdate: Listener<ToolResult<Partial<Details>>>;
  readonly #onOutput: Listener<OutputChunk>;
  readonly #tail: TailUpdates;
  readonly #toShown: (text: string) => string;
  readonly #keepsTail: boolean;
  #details: Partial<Details> = {};

  constructor(
    { onUpdate, onOutput }: ToolCall<Details>,
    {
      maxBytes = DEFAULT_MAX_BYTES,
      toShown = (text) => text,
      keepsTail = false,
    }: UpdateOptions = {},
  ) {
    this.#onUpdate = new Listener('onUpdate', onUpdate);
    this.#onOutput = new Listener('onOutput', onOutput);
    this.#toShown = toShown;
    this.#keepsTail = keepsTail;
    this.#tail = new TailUpdates({
      maxBytes,
      intervalMs: UPDATE_INTERVAL_MS,
      emit: (text) => this.#emit({ text: toShown(text), details: this.#details }),
    });
  }

  /** The last output so far. */
  get tail(): string {
    return this.#toShown(this.#tail.tail);
  }

  /** Tells them what the command has printed. */
  readonly tell = (chunk: OutputChunk): void => {
    if (this.#keepsTail || this.#onUpdate.isPresent) this.#tail.push(chunk);
    this.#onOutput.tell(chunk);
  };

  /** Output that is no text to be shown: only who wants all of it is told. */
  readonly pass = (chunk: OutputChunk): void => this.#onOutput.tell(chunk);

  /** This is what there is to see now. */
  readonly show = (text: string): void => this.#tail.replace(text);

  /** The call gets its answer now: from here on updates say by these details whose they are. */
  answered(details: Partial<Details>): void {
    this.#details = details;
    this.#onOutput.stop();
  }

  /** The command is over: they hear nothing more, but this. */
  stop(last?: LastUpdate<Details>): void {
    this.#tail.stop();
    if (last !== undefined) this.#emit(last);
    this.#onUpdate.stop();
    this.#onOutput.stop();
  }

  #emit({ text, details }: LastUpdate<Details>): void {
    this.#onUpdate.tell({ content: [{ type: 'text', text }], details });
  }
}

/**
 * A call as it is now: what becomes of its object while it waits does not matter. A runtime may pass
 * along an object of its own, with more in it than is ours.
 *
 * @param input What the model gave: what it says of its command is in every update.
 * @throws {InputError} Names what is wrong with what a runtime passes along.
 */
export function callOfNow<Details>(
  given: ToolCall<Details> = {},
  input?: unknown,
): ToolCall<Details> {
  // On every call's way, so that nothing else is entered for what is right.
  if (typeof given !== 'object' || given === null) checkObject('call', given);
  const signal = given.signal ?? undefined;
  const onUpdate = given.onUpdate ?? undefined;
  const onOutput = given.onOutput ?? undefined;
  checkSignal(signal, given);
  if (onUpdate !== undefined) checkFunction('onUpdate', onUpdate);
  if (onOutput !== undefined) checkFunction('onOutput', onOutput);
  const label = labelOf(input);
  if (onUpdate === undefined || label === undefined) return { signal, onUpdate, onOutput };
  return { signal, onUpdate: (update) => onUpdate({ ...update, label }), onOutput };
}

/** @throws {InputError} It is given and none, or has the name that AI SDKs give it. */
function checkSignal(signal: unknown, call: object): void {
  if (signal !== undefined) {
    if (isAbortSignal(signal)) return;
    throw new InputError(`signal: expected an AbortSignal, got ${showValue(signal)}`);
  }
  if ('abortSignal' in call && !isMissing(call.abortSignal)) {
    throw new InputError('abortSignal: not known here, a call is cancelled by its signal');
  }
}

/** Does work that prints: the call's listeners hear of it, and of nothing once it has settled. */
export async function whileListened<Details, T>(
  call: ToolCall<Details>,
  work: (onOutput: ((chunk: OutputChunk) => void) | undefined) => Promise<T>,
  options?: UpdateOptions,
): Promise<T> {
  const listeners = listenTo(call, options);
  try {
    return await work(listeners?.tell);
  } finally {
    listeners?.stop();
  }
}

/**
 * The listeners of a call; undefined: there are none, so that nothing has to be delivered while the
 * command runs.
 */
export function listenTo<Details>(
  call: ToolCall<Details>,
  options?: UpdateOptions,
): CallListeners<Details> | undefined {
  if (call.onUpdate === undefined && call.onOutput === undefined) return undefined;
  return new CallListeners(call, options);
}
