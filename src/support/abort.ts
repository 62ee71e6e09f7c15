/**
 * Whether a value does what is asked of an AbortSignal. One of another realm (jsdom, `vm`) or of a
 * package that stands in for it is none by `instanceof`, and may lack `reason` and
 * `throwIfAborted()`.
 */
export function isAbortSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false;
  const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>;
  return (
    typeof aborted === 'boolean' &&
    typeof addEventListener === 'function' &&
    typeof removeEventListener === 'function'
  );
}

/** What it was aborted with. */
export function abortReason(signal: AbortSignal): unknown {
  return signal.reason ?? new DOMException('This operation was aborted', 'AbortError');
}

/** @throws What it was aborted with, if it was. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortReason(signal);
}

/** What is called when a signal is aborted: one listener of ours a signal. */
const waiting = new WeakMap<AbortSignal, Waiting>();

interface Waiting {
  readonly calls: Set<() => void>;
  readonly listener: () => void;
}

/**
 * Calls `then` once when the signal is aborted. A runtime may give one signal to any number of
 * calls; with a listener for each, Node would warn of a leak at the eleventh.
 *
 * @param signal One that is aborted already calls nothing.
 * @returns Takes it back.
 */
export function onAbort(signal: AbortSignal, then: () => void): () => void {
  const { calls, listener } = waiting.get(signal) ?? listenTo(signal);
  // Of its own, should the same function be given twice.
  const call = (): void => then();
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    signal.removeEventListener('abort', listener);
    waiting.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const calls = new Set<() => void>();
  const listener = (): void => {
    waiting.delete(signal);
    // One that is taken back meanwhile is not called any more, as with listeners of a signal.
    for (const call of calls) call();
    calls.clear();
  };
  const made = { calls, listener };
  waiting.set(signal, made);
  signal.addEventListener('abort', listener, { once: true });
  return made;
}
