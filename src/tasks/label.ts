const LABEL_CHARACTERS = 120;

/** Shortens a command to the label of its task: on one line, of at most 120 characters. */
export function taskLabel(command: string): string {
  const characters = [...command.trim().replace(/\s+/g, ' ')];
  if (characters.length <= LABEL_CHARACTERS) return characters.join('');
  return `${characters.slice(0, LABEL_CHARACTERS - 1).join('')}…`;
}
