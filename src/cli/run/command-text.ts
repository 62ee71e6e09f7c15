import { quoteWord } from '../../support/quote.js';

/**
 * The command that the arguments stand for. One is a command's text as it is; after `--` several
 * are the words of one command, which no shell splits or expands any more.
 *
 * @param given All arguments of the process, by which it is known what stood after `--`.
 * @returns Undefined: several, and no `--`.
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

/** What to do about arguments that were meant to be a command. */
export const QUOTE_HINT =
  "quote the command, as in: forkline run 'ls -la', or put -- before its words: forkline run -- ls -la";
