/** Whether a byte is inside a UTF-8 character, not at its beginning. */
export function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** The longest end of `text` of at most `maxBytes` UTF-8 bytes, beginning at a character. */
export function lastBytes(text: string, maxBytes: number): string {
  // No UTF-16 unit takes more than three bytes.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (isContinuation(bytes[start])) start += 1;
  return bytes.toString('utf8', start);
}

/** The longest beginning of `text` of at most `maxBytes` UTF-8 bytes, ending at a character. */
export function firstBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/**
 * Text without halves of characters: those at its ends, which somebody has cut off, are left out,
 * and others become U+FFFD.
 */
export function wellFormed(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '').replace(LONE_HALF, '\ufffd');
}

/** With `u`, the two halves of a character are one, which is none of these. */
const LONE_HALF = /[\ud800-\udfff]/gu;

const UNITS = ['KB', 'MB', 'GB', 'TB'] as const;

/** A size for people: `512B`, `12.3KB`, `1.0MB`; 1,024-based, one decimal. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  let size = bytes;
  let shown = '';
  for (const unit of UNITS) {
    size /= 1024;
    shown = `${size.toFixed(1)}${unit}`;
    // By the rounded figure: 1,048,575 bytes are 1.0MB, not 1024.0KB.
    if (Number(size.toFixed(1)) < 1024) break;
  }
  return shown;
}

const SHOWN_NAMES = 20;

/** The newest of names that stand from the oldest to the newest, and how many are older. */
export function newestOf(names: readonly string[]): string {
  const hidden = names.length - SHOWN_NAMES;
  return `${hidden > 0 ? `${hidden} older, ` : ''}${names.slice(-SHOWN_NAMES).join(', ')}`;
}

/** A count with its thousands set apart: `1,234`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A size beside another one: those that differ look different, if need be by their bytes. */
export function formatSizeBeside(bytes: number, other: number): string {
  const shown = formatSize(bytes);
  return bytes !== other && shown === formatSize(other) ? `${bytes}B` : shown;
}

/** Lines of a text; a last one without a newline counts, a final newline begins no other. */
export function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Text of strangers for a line that somebody reads: what a terminal would act upon is spelled out. */
export function visibleText(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** The same of several lines, which stay lines. */
export function visibleLines(text: string): string {
  return text.trim().split(/\r?\n/).map(visibleText).join('\n');
}
