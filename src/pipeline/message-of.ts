/** What an error says; anything may be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : shownThrown(error);
}

/** What was thrown as text, with its kind; also when it is nothing that can be made text. */
export function shownThrown(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}
