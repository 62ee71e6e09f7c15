/** Whether it is one of these, or lies below one. */
export function isAmong(path: string, directories: readonly string[]): boolean {
  return longestOf(path, directories) >= 0;
}

/** How long the longest of these is that it is, or lies below; -1: none. */
export function longestOf(path: string, directories: readonly string[]): number {
  const above = directories.filter((one) => path === one || path.startsWith(`${one}/`));
  return Math.max(-1, ...above.map((one) => one.length));
}
