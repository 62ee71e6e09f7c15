/** The shell syntax that a word is put into. */
export type WordPlace = 'plain' | 'backquotes' | 'backquotes in double quotes';

/** Writes text as a word of shell, or as a part of one. */
export function quoteWord(text: string, place: WordPlace): string {
  const word = /^[\w./:=@%+,-]+$/.test(text) ? text : quote(text);
  return word.replace(ESCAPED[place], '\\$&');
}

/** What loses one backslash before the command is read. */
const ESCAPED: Readonly<Record<WordPlace, RegExp>> = {
  plain: /(?!)/g,
  backquotes: /[\\`$]/g,
  'backquotes in double quotes': /[\\`$"]/g,
};

function quote(text: string): string {
  // A here-document is read by the line, before what is quoted inside it: a newline there could end
  // it, or be joined to a backslash. So none stays as it is.
  const lines = text.replaceAll("'", "'\\''").split('\n');
  return `'${lines.join("'$'\\n''")}'`;
}
