/** Returns whether a byte is inside a UTF-8 character, not at its beginning. */
export function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Returns the longest end of `text` of at most `maxBytes` UTF-8 bytes, beginning at a character. */
export function lastBytes(text: string, maxBytes: number): string {
  // No UTF-16 unit takes more than three bytes.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (isContinuation(bytes[start])) start += 1;
  return bytes.toString('utf8', start);
}

/** Returns the longest beginning of `text` of at most `maxBytes` UTF-8 bytes, ending at a character. */
export function firstBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/**
 * Repairs text with halves of surrogate pairs: those at its ends, left by a cut, are removed, and others
 * become U+FFFD.
 */
export function wellFormed(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '').replace(LONE_HALF, '\ufffd');
}

/** With the flag `u`, a complete surrogate pair is one character, and does not match. */
const LONE_HALF = /[\ud800-\udfff]/gu;

const UNITS = ['KB', 'MB', 'GB', 'TB'] as const;

/** Formats a size for people: `512B`, `12.3KB`, `1.0MB`; 1,024-based, one decimal. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  let size = bytes;
  let shown = '';
  for (const unit of UNITS) {
    size /= 1024;
    shown = `${size.toFixed(1)}${unit}`;
    // Compares the rounded figure: 1,048,575 bytes are 1.0MB, not 1024.0KB.
    if (Number(size.toFixed(1)) < 1024) break;
  }
  return shown;
}

const SHOWN_NAMES = 20;

/** Lists the last of `names`, which are ordered from oldest to newest, and counts the older ones. */
export function newestOf(names: readonly string[]): string {
  const hidden = names.length - SHOWN_NAMES;
  return `${hidden > 0 ? `${hidden} older, ` : ''}${names.slice(-SHOWN_NAMES).join(', ')}`;
}

/** Formats a count with separators of thousands: `1,234`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Formats a size that stands beside another one: if they differ but look alike, in bytes. */
export function formatSizeBeside(bytes: number, other: number): string {
  const shown = formatSize(bytes);
  return bytes !== other && shown === formatSize(other) ? `${bytes}B` : shown;
}

/**
 * Counts the lines of a text. A last line without a newline counts; a final newline begins no further
 * line.
 */
export function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/**
 * Escapes text from outside for one line of output: control characters, which a terminal would act upon,
 * are spelled out.
 */
export function visibleText(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** Escapes each line of a text from outside, as {@link visibleText} does. */
export function visibleLines(text: string): string {
  return text.trim().split(/\r?\n/).map(visibleText).join('\n');
}
