/**
 * Returns whether a value can be used as an AbortSignal. A signal of another realm (jsdom, `vm`) or of a
 * package that replaces AbortSignal fails `instanceof`, and may lack `reason` and `throwIfAborted()`.
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

/** Returns the reason of an aborted signal. */
export function abortReason(signal: AbortSignal): unknown {
  return signal.reason ?? new DOMException('This operation was aborted', 'AbortError');
}

/** @throws The signal's reason, if it is aborted. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortReason(signal);
}

/** Callbacks for each signal, behind one listener for each signal. */
const waiting = new WeakMap<AbortSignal, SignalCallbacks>();

interface SignalCallbacks {
  readonly calls: Set<() => void>;
  readonly listener: () => void;
}

/**
 * Calls `then` once when the signal is aborted. A runtime may give one signal to any number of calls;
 * with a listener for each, Node would warn of a leak at the eleventh.
 *
 * @param signal A signal that is already aborted calls nothing.
 * @returns A function that cancels the call.
 */
export function onAbort(signal: AbortSignal, then: () => void): () => void {
  const { calls, listener } = waiting.get(signal) ?? listenTo(signal);
  // A function of its own, since `then` may be registered twice.
  const call = (): void => then();
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    signal.removeEventListener('abort', listener);
    waiting.delete(signal);
  };
}

function listenTo(signal: AbortSignal): SignalCallbacks {
  const calls = new Set<() => void>();
  const listener = (): void => {
    waiting.delete(signal);
    // A callback that is cancelled during this loop is not called, as with listeners of a signal.
    for (const call of calls) call();
    calls.clear();
  };
  const made = { calls, listener };
  waiting.set(signal, made);
  signal.addEventListener('abort', listener, { once: true });
  return made;
}
