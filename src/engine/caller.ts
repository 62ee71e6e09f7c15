import { AsyncResource } from 'node:async_hooks';

/** Made when this package is loaded, which is no request's doing. */
const nobody = new AsyncResource('forkline');

/**
 * Makes what outlives the call that happens to need it first. Node gives a promise, a timer or a
 * native callback the async context in which it was made: that of the first request would be the
 * one of all that follows, and never be collected.
 */
export function onBehalfOfNobody<T>(make: () => T): T {
  return nobody.runInAsyncScope(make);
}

/**
 * A caller's function, called in the async context of now wherever it is called from: it may ask
 * whose request it is. For what events of the engine, of a timer or of somebody else's interface
 * lead to. What settles a promise needs none of this: reactions know their context themselves.
 */
export function inCallersContext<This, Arguments extends unknown[], Result>(
  call: (this: This, ...values: Arguments) => Result,
  self: This,
): (...values: Arguments) => Result {
  const caller = new AsyncResource('forkline.caller');
  return (...values) => caller.runInAsyncScope(call, self, ...values);
}
