/** Where a program's own path means what its name means. */
const STANDARD_PLACE = /^\/(?:usr\/(?:local\/)?)?bin\/(?=[^/]+$)/;

/**
 * The name of a program that a command calls by its path: `/usr/bin/grep` is `grep`. One in another
 * place stays as it is: `./cat` may be anything.
 */
export function programName(word: string): string {
  return word.replace(STANDARD_PLACE, '');
}
