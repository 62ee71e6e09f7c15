/**
 * Bytes that nobody can guess. What makes them is loaded at the first call: that takes 3 ms, which
 * whoever imports this package and runs commands need not wait for.
 */
export function randomBytes(count: number): Buffer {
  return process.getBuiltinModule('node:crypto').randomBytes(count);
}
