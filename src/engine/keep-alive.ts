/** A timer that does nothing: Node's event loop goes on while it has a reference (`ref()`). */
export function makeKeepAlive(): NodeJS.Timeout {
  return setInterval(() => {}, 2 ** 31 - 1).unref();
}
