import { quoteWord } from '../../support/quote.js';

/**
 * Returns the command that the arguments stand for. A single argument is a command's text; several
 * after `--` are the words of one command, which no shell splits or expands again.
 *
 * @param given All arguments of the process, to see what stood after `--`.
 * @returns The command; `undefined`: several words and no `--`.
 */
export function commandText(
  words: readonly string[],
  given: readonly string[],
): string | undefined {
  const [first = ''] = words;
  if (words.length === 1) return first;
  const separator = given.indexOf('--');
  const areWords = separator !== -1 && given.length - separator - 1 === words.length;
  return areWords ? words.map((word) => quoteWord(word, 'plain')).join(' ') : undefined;
}

/** The advice for arguments that were meant to be a command. */
export const QUOTE_HINT =
  "quote the command, as in: forkline run 'ls -la', or put -- before its words: forkline run -- ls -la";
