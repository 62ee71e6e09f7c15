/**
 * Returns unpredictable bytes. `node:crypto` is loaded at the first call: that takes 3 ms, which
 * importing this package and running commands need not wait for.
 */
export function randomBytes(count: number): Buffer {
  return process.getBuiltinModule('node:crypto').randomBytes(count);
}

/** Returns a unique name. It can be guessed, but nothing has to be loaded for it. */
export function uniqueName(): string {
  return [Math.random(), Math.random()].map((number) => number.toString(36).slice(2)).join('');
}
