/** Lines of a text made of an output, each with the output's line at which it begins. */
export interface NumberedText {
  readonly lines: readonly string[];
  /** Line numbers from 1, ascending, one for each line. */
  readonly numbers: readonly number[];
  /** Whether the last line ends with a newline. */
  readonly endsWithNewline: boolean;
}

/** Numbers the lines of an unchanged text. */
export function numberedText(text: string): NumberedText {
  const lines = text.split('\n');
  const endsWithNewline = lines.at(-1) === '';
  if (endsWithNewline) lines.pop();
  return { lines, numbers: lines.map((_, index) => index + 1), endsWithNewline };
}

export function toText({ lines, endsWithNewline }: NumberedText): string {
  return lines.length > 0 && endsWithNewline ? `${lines.join('\n')}\n` : lines.join('\n');
}
