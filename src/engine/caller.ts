import { AsyncResource } from 'node:async_hooks';

/** Created when this package is loaded, outside of any request. */
const nobody = new AsyncResource('forkline');

/**
 * Creates an object that outlives the call which happens to need it first. Node gives a promise, a timer
 * or a native callback the async context in which it was created: without this, the context of the first
 * request would be that of all later ones, and would never be collected.
 */
export function onBehalfOfNobody<T>(make: () => T): T {
  return nobody.runInAsyncScope(make);
}

/**
 * Binds a caller's function to the current async context, wherever it is called from: it may use the
 * context of its request. For callbacks from events of the engine, of a timer or of another interface.
 * Promises need none of this, since reactions keep their context themselves.
 */
export function inCallersContext<This, Arguments extends unknown[], Result>(
  call: (this: This, ...values: Arguments) => Result,
  self: This,
): (...values: Arguments) => Result {
  const caller = new AsyncResource('forkline.caller');
  return (...values) => caller.runInAsyncScope(call, self, ...values);
}
