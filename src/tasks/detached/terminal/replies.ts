/**
 * What terminals send by themselves, when a program asks them what they are, where the cursor is or which
 * colours they have. F3 with Shift or Ctrl looks like the cursor in the first row, and counts as a key.
 */
const REPLIES = new RegExp(
  [
    // Attributes, modes, keyboard flags, status.
    '\\x1b\\[[?>=][\\d;:]*(?:\\$y|[cnuy])',
    '\\x1b\\[0n',
    // The cursor.
    '\\x1b\\[(?!1;)\\d+;\\d+R',
    // The window.
    '\\x1b\\[\\d+(?:;\\d+)*t',
    // Colours, settings, version: strings with an end.
    '\\x1b[\\]P_][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)',
  ].join('|'),
  'g',
);

/** Returns whether typed bytes have answers of a terminal among them. */
export function hasReplies(typed: Uint8Array): boolean {
  return withoutReplies(typed).length < typed.length;
}

/** Returns the keys alone. */
export function withoutReplies(typed: Uint8Array): Buffer {
  const text = Buffer.from(typed).toString('latin1');
  return Buffer.from(text.replace(REPLIES, ''), 'latin1');
}
