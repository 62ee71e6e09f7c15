/** The shell syntax that a word is put into. */
export type WordPlace = 'plain' | 'backquotes';

/** Writes text as a word of shell, or as a part of one. */
export function quoteWord(text: string, place: WordPlace): string {
  const word = /^[\w./:=@%+,-]+$/.test(text) ? text : quote(text);
  // Before the command in backquotes is read, these lose one backslash.
  return place === 'backquotes' ? word.replace(/[\\`$]/g, '\\$&') : word;
}

function quote(text: string): string {
  // A here-document is read by the line, before what is quoted inside it: a newline there could end
  // it, or be joined to a backslash. So none stays as it is.
  const lines = text.replaceAll("'", "'\\''").split('\n');
  return `'${lines.join("'$'\\n''")}'`;
}
