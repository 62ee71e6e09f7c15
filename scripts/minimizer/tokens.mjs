/**
 * Pieces of a text as tokenizers of language models cut it before they join: words with the blank before
 * them, signs, digits, blanks.
 */
const PIECE =
  /(?<blank>\s+(?=\s)|\s+)|(?<digits>\d+)|(?<word>[A-Za-z]+)|(?<letters>[\u{80}-\u{10ffff}]+)|(?<signs>[^\sA-Za-z\d]+)/gu;

/** Characters of a piece that make a token, on average. */
const LENGTHS = { blank: 80, digits: 3, word: 7, letters: 2, signs: 3.2 };
/** A rule or a bar, of which a token has many. */
const RUN = /^(?<sign>.)\k<sign>{3,}$/u;
const LENGTH_OF_RUN = 32;

/**
 * About how many tokens a text has for a language model. Compared with the tokenizer `o200k_base` over
 * all of the minimizer's recordings, as they are and shortened, it is within 5 %.
 *
 * @param {string} text
 */
export function tokensOf(text) {
  let count = 0;
  for (const { groups = {} } of text.replace(/ (?=\S)/g, '').matchAll(PIECE)) {
    for (const [kind, length] of Object.entries(LENGTHS)) {
      const piece = groups[kind];
      if (piece === undefined) continue;
      const each = RUN.test(piece) ? LENGTH_OF_RUN : length;
      count += Math.max(1, Math.round(piece.length / each));
    }
  }
  return count;
}
