// How the comments of the house read: which share of their sentences begins with a word that has to be
// decoded (`It`, `That`, `Who`, `What`, `Else`) in place of a verb or a noun.

/**
 * @typedef {object} Sentence
 * @property {string} text
 * @property {boolean} isRiddle begins with a word that stands for something else
 * @property {number} persons how often it says who, whoever, nobody, somebody
 */

const RIDDLE = /^(?:It|Its|That|Those|Who|Whoever|What|Whatever|Else)\b/;
const PERSON = /\b(?:who|whoever|whose|nobody|somebody)\b/gi;

/** The sentences of a source's comments, those of TypeScript, Rust, C++ and scripts.
 * @param {string} source
 * @returns {Sentence[]} */
export function sentencesOf(source) {
  return blocksOf(source).flatMap((block) =>
    block
      .replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`/g, 'code')
      .split(/\n\s*\n|(?<=[.!?:;])\s+(?=[A-Z])|\n(?=@|- |\* )/)
      .map((part) =>
        part
          .replace(/\s+/g, ' ')
          .replace(/^(?:@\w+(?: \{[^}]*\})?(?: \[?[\w.]+\]? -?)?|[-*#/!]+) */, '')
          .trim(),
      )
      .filter((text) => text.split(' ').length >= 2 && /^[A-Za-z]/.test(text))
      .map((text) => ({
        text,
        isRiddle: RIDDLE.test(text),
        persons: text.match(PERSON)?.length ?? 0,
      })),
  );
}

/** What sources come to: lines of code, and of their comments sentences and words.
 * @param {readonly string[]} sources */
export function countsOf(sources) {
  const sentences = sources.flatMap(sentencesOf);
  return {
    lines: sources
      .join('\n')
      .split('\n')
      .filter((line) => !/^\s*(?:\/\/|\/?\*|$)/.test(line)).length,
    sentences: sentences.length,
    riddles: sentences.filter(({ isRiddle }) => isRiddle).length,
    words: sentences.reduce((sum, { text }) => sum + text.split(' ').length, 0),
    persons: sentences.reduce((sum, each) => sum + each.persons, 0),
  };
}

/** Comments, each as one text; lines of `//` that follow one another are one. */
function blocksOf(/** @type {string} */ source) {
  const blocks = [];
  /** @type {string[] | undefined} */
  let open;
  let isStarred = false;
  for (const line of source.split('\n')) {
    const starred = isStarred ? line : /^\s*\/\*\*?(.*)$/.exec(line)?.[1];
    const slashed = isStarred ? undefined : /^\s*\/\/[/!]?(?!\S*eslint)(.*)$/.exec(line)?.[1];
    if (starred !== undefined) {
      const text = starred.replace(/\*\/.*$/, '').replace(/^\s*\*? ?/, '');
      if (isStarred) open?.push(text);
      else open = [text];
      isStarred = !line.includes('*/');
      if (!isStarred) blocks.push(flush());
    } else if (slashed !== undefined) {
      open ??= [];
      open.push(slashed.replace(/^ /, ''));
    } else if (open !== undefined) {
      blocks.push(flush());
    }
  }
  if (open !== undefined) blocks.push(flush());
  return blocks;

  function flush() {
    const text = (open ?? []).join('\n');
    open = undefined;
    return text;
  }
}
