/** A program that runs the command in its arguments, and the options it accepts before that command. */
interface Wrapper {
  /** Options without a value. */
  readonly flags: RegExp;
  /** Options that take the next argument as their value. */
  readonly valued: RegExp;
  /** Whether `NAME=value` may follow the options. */
  readonly assignments: boolean;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    flags:
      /^(?:-[AbEHinPS]+|-[AbEHinPS]*[CDghpRrTtuU].+|--(?:askpass|background|login|non-interactive|preserve-env.*|set-home|stdin|(?:user|group)=.*))$/,
    valued: /^(?:-[AbEHinPS]*[CDghpRrTtuU]|--(?:user|group))$/,
    assignments: true,
  },
  env: {
    flags: /^(?:-|-[i0v]+|--(?:ignore-environment|null|debug|(?:unset|chdir)=.*))$/,
    valued: /^(?:-[i0v]*[uC]|--(?:unset|chdir))$/,
    assignments: true,
  },
  // `command -v` only looks up a name.
  command: { flags: /^-p+$/, valued: /(?!)/, assignments: false },
};

/**
 * Returns the index of the program's word, after `sudo`, `env`, `command` with their options and
 * assignments; undefined when there is none or an option is not known.
 */
export function findProgram(words: readonly string[]): number | undefined {
  let index = 0;
  while (index < words.length) {
    const name = programName(words[index] ?? '');
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
    if (wrapper === undefined) return index;
    const next = skipOptions(words, index + 1, wrapper);
    if (next === undefined) return undefined;
    index = next;
    while (wrapper.assignments && /^[A-Za-z_]\w*=/.test(words[index] ?? '')) index += 1;
  }
  return undefined;
}

function skipOptions(
  words: readonly string[],
  start: number,
  { flags, valued }: Wrapper,
): number | undefined {
  let index = start;
  while (words[index]?.startsWith('-')) {
    const word = words[index] ?? '';
    if (word === '--') return index + 1;
    if (valued.test(word)) index += 2;
    else if (flags.test(word)) index += 1;
    else return undefined;
  }
  return index;
}

/** Directories in which a program's path means the same as its name. */
const STANDARD_PLACE = /^\/(?:usr\/(?:local\/)?)?bin\/(?=[^/]+$)/;

/**
 * Returns the name of a program that a command calls by its path: `/usr/bin/grep` is `grep`. A path in
 * another directory stays as it is: `./cat` may be anything.
 */
export function programName(word: string): string {
  return word.replace(STANDARD_PLACE, '');
}
