import type { ToolAnswer } from '../index.js';
import { wholeFrom } from '../support/checks.js';
import { countLines, firstBytes, formatCount, formatSize, lastBytes } from '../support/text.js';

/** The bound of the texts that a framework's tools give to a model. */
export interface TextBound {
  /**
   * Bytes (UTF-8) of an answer's text at most; of a longer one the middle is left out, and a line says how
   * much. At least 1,024. Default: 65,536, which is more than any contract but `plain` gives by default.
   */
  readonly maxTextBytes?: number | undefined;
}

const LEAST_TEXT_BYTES = 1024;
const DEFAULT_TEXT_BYTES = 64 * 1024;
/** Enough for the line that says how much is left out. */
const NOTICE_BYTES = 80;
/** How close to the bound a shortened answer comes. */
const CLOSE_BYTES = 128;

/** Shortens the text of an answer. */
export type Shorten = <Details>(answer: ToolAnswer<Details>) => ToolAnswer<Details>;

/**
 * Makes a function that shortens the texts of answers for a model.
 *
 * @throws {InputError} The bound is not valid.
 */
export function boundedBy({ maxTextBytes }: TextBound): Shorten {
  const max = wholeFrom('maxTextBytes', LEAST_TEXT_BYTES, maxTextBytes ?? DEFAULT_TEXT_BYTES);
  return (answer) => {
    const { text, structured } = answer;
    // No UTF-16 unit takes more than three bytes.
    if (text.length * 3 <= max || Buffer.byteLength(text) <= max) return answer;
    const fields = fieldsOf(text, structured);
    const shorter = fields && shorterJson(fields, max);
    return { ...answer, text: shorter ?? shortened(longText(text, max), max) };
  };
}

/** Returns the fields of a text that is the structured answer as JSON; undefined: the text is another one. */
function fieldsOf(text: string, structured: ToolAnswer<unknown>['structured']) {
  if (structured === undefined) return undefined;
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields !== 'object' || fields === null) return undefined;
    // A command may have printed JSON of its own.
    const isAnswer = Object.entries(fields).every(([name, value]) => structured[name] === value);
    return isAnswer ? fields : undefined;
  } catch {
    return undefined;
  }
}

/** Returns fields as JSON, the long ones shortened to one length; undefined: they are too many. */
function shorterJson(fields: object, max: number): string | undefined {
  const entries = Object.entries(fields).map(([name, value]) => {
    return [name, typeof value === 'string' ? longText(value, max) : value] as const;
  });
  const withTextsOf = (length: number): string => {
    const shown = entries.map(([name, value]) => {
      return [name, isLongText(value) ? shortened(value, length) : value] as const;
    });
    return JSON.stringify(Object.fromEntries(shown));
  };
  let best: string | undefined;
  // The length as JSON depends on the characters.
  for (let [low, high] = [0, max]; high - low > CLOSE_BYTES; ) {
    const middle = Math.floor((low + high) / 2);
    const text = withTextsOf(middle);
    if (Buffer.byteLength(text) > max) high = middle;
    else {
      best = text;
      low = middle;
    }
  }
  return best;
}

/** The ends of a text, and its size. */
interface LongText {
  readonly head: string;
  readonly tail: string;
  readonly bytes: number;
  readonly newlines: number;
}

function longText(text: string, max: number): LongText {
  return {
    head: firstBytes(text, max),
    tail: lastBytes(text, max),
    bytes: Buffer.byteLength(text),
    newlines: newlinesIn(text),
  };
}

const isLongText = (value: unknown): value is LongText =>
  typeof value === 'object' && value !== null && 'newlines' in value;

/** Returns a text of at most so many bytes, but for the line about what is left out. */
function shortened({ head, tail, bytes, newlines }: LongText, length: number): string {
  if (bytes <= length) return head;
  const kept = Math.max(0, length - NOTICE_BYTES);
  const [first, last] = [firstBytes(head, Math.ceil(kept / 2)), lastBytes(tail, kept >> 1)];
  const missing = bytes - Buffer.byteLength(first) - Buffer.byteLength(last);
  const lines = newlines - newlinesIn(first) - newlinesIn(last);
  const before = first === '' || first.endsWith('\n') ? first : `${first}\n`;
  return `${before}[… ${formatSize(missing)} of ${formatSize(bytes)}, ${linesOf(lines)}, not shown …]\n${last}`;
}

const linesOf = (count: number): string => (count === 1 ? '1 line' : `${formatCount(count)} lines`);

/** Counts the ends of lines. */
const newlinesIn = (text: string): number =>
  countLines(text) - (text === '' || text.endsWith('\n') ? 0 : 1);
