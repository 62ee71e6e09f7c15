/** Returns whether `path` is one of `directories` or below one. */
export function isAmong(path: string, directories: readonly string[]): boolean {
  return longestOf(path, directories) >= 0;
}

/** Returns the length of the longest directory that `path` is or is below; -1: none. */
export function longestOf(path: string, directories: readonly string[]): number {
  const above = directories.filter((one) => path === one || path.startsWith(`${one}/`));
  return Math.max(-1, ...above.map((one) => one.length));
}
