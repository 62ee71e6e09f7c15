/** A program that runs the command in its arguments, and the options it accepts before that command. */
interface Wrapper {
  /** Options without a value. */
  readonly flags: RegExp;
  /** Options that take the next argument as their value. */
  readonly valued: RegExp;
  /** Whether `NAME=value` may follow the options. */
  readonly assignments: boolean;
  /** Words between the options and the command. Default: 0. */
  readonly operands?: number;
}

type Wrappers = Readonly<Record<string, Wrapper>>;

const WRAPPERS: Wrappers = {
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

/** Wrappers that say how a command runs, and exit with its code. A tool could not replace them. */
const MANNERS: Wrappers = {
  timeout: {
    flags:
      /^(?:-[fpv]+|-[ks].+|--(?:foreground|preserve-status|verbose|(?:kill-after|signal)=.*))$/,
    valued: /^(?:-[ks]|--(?:kill-after|signal))$/,
    assignments: false,
    operands: 1,
  },
  nice: {
    flags: /^(?:-n.+|--?\d+|--adjustment=.*)$/,
    valued: /^(?:-n|--adjustment)$/,
    assignments: false,
  },
  ionice: { flags: /^(?:-t|-[cn].+)$/, valued: /^-[cn]$/, assignments: false },
  stdbuf: {
    flags: /^(?:-[ioe].+|--(?:input|output|error)=.*)$/,
    valued: /^(?:-[ioe]|--(?:input|output|error))$/,
    assignments: false,
  },
  setsid: { flags: /^(?:-[cw]+|--(?:ctty|wait))$/, valued: /(?!)/, assignments: false },
  nohup: { flags: /(?!)/, valued: /(?!)/, assignments: false },
  chronic: { flags: /^-[ev]+$/, valued: /(?!)/, assignments: false },
  unbuffer: { flags: /^-p$/, valued: /(?!)/, assignments: false },
  'xvfb-run': { flags: /^-(?:a|-auto-servernum)$/, valued: /(?!)/, assignments: false },
  // The program; the keyword is no word of a command.
  time: { flags: /^(?:-[apvq]+|-[fo].+)$/, valued: /^-[fo]$/, assignments: false },
};

const ALL: Wrappers = { ...WRAPPERS, ...MANNERS };

/**
 * Returns the index of the program's word, after `sudo`, `env`, `command` with their options and
 * assignments; undefined when there is none or an option is not known.
 */
export function findProgram(words: readonly string[]): number | undefined {
  let index = 0;
  while (index < words.length) {
    const next = skipWrapper(words, index, WRAPPERS);
    if (next === index) return index;
    if (next === undefined) return undefined;
    index = next;
  }
  return undefined;
}

/**
 * Returns the index of the word that names what runs, for people: after all wrappers, `timeout` and the
 * like included; that of a wrapper whose options are not known.
 */
export function findNamedProgram(words: readonly string[]): number {
  let index = 0;
  for (;;) {
    const next = skipWrapper(words, index, ALL);
    if (next === undefined || next === index || next >= words.length) return index;
    index = next;
  }
}

/** Returns the index after a wrapper and its words; the same, where there is none. */
function skipWrapper(
  words: readonly string[],
  index: number,
  wrappers: Wrappers,
): number | undefined {
  const name = programName(words[index] ?? '');
  const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  if (wrapper === undefined) return index;
  let next = skipOptions(words, index + 1, wrapper);
  if (next === undefined) return undefined;
  while (wrapper.assignments && /^[A-Za-z_]\w*=/.test(words[next] ?? '')) next += 1;
  return next + (wrapper.operands ?? 0);
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
