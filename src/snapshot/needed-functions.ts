import { EVERY, type Selection } from './function-files.js';
import { FunctionGraph } from './function-graph.js';
import { HANDLER } from './kept-functions.js';

/** Longer texts are not looked at: bash takes its time to read them anyhow. */
const MAX_TEXT = 32 * 1024;

/**
 * Tells which functions a command needs as they are: those that its text names, by way of aliases
 * too, those that they name, and so on. Of what else it can call, by names that it makes or in
 * scripts that it sources, it sees only later that these were stubs, and hardly: so a text that
 * looks at functions, or at how they were called, gets them all.
 */
export class NeededFunctions {
  readonly #definitions: ReadonlyMap<string, string>;
  readonly #aliases: ReadonlyMap<string, string>;
  readonly #graph: FunctionGraph;
  readonly #stubs: ReadonlySet<string>;
  readonly #looking = new Map<string, boolean>();

  /**
   * @param definitions Of the functions, by name.
   * @param readable Those whose definitions bash reads as they were.
   */
  constructor(
    definitions: ReadonlyMap<string, string>,
    aliases: ReadonlyMap<string, string>,
    readable: ReadonlySet<string>,
  ) {
    this.#definitions = definitions;
    this.#aliases = aliases;
    this.#graph = new FunctionGraph(definitions);
    this.#stubs = this.#possibleStubs(readable);
  }

  /** Those that may be stubs. */
  get stubs(): ReadonlySet<string> {
    return this.#stubs;
  }

  /** What a command with this text is to source. */
  selectionFor(text: string): Selection {
    if (text.length > MAX_TEXT) return EVERY;
    const texts = [text, ...this.#aliasesIn(text)];
    if (texts.some((one) => LOOKS_AROUND.test(one))) return EVERY;
    const names = this.#graph.reachedFrom(texts.flatMap((one) => this.#graph.namedIn(one)));
    const needed: string[] = [];
    for (const name of names) {
      if (this.#looksAtFunctions(name)) return EVERY;
      if (this.#stubs.has(name)) needed.push(name);
    }
    return 2 * needed.length > this.#definitions.size ? EVERY : ['stubs', ...needed];
  }

  /** The texts of the aliases that a text may use, and of those that these may. */
  #aliasesIn(text: string): ReadonlySet<string> {
    const values = new Set<string>();
    const mayUse = (one: string): void => {
      for (const [name, value] of this.#aliases) if (hasWord(one, name)) values.add(value);
    };
    mayUse(text);
    for (const value of values) mayUse(value);
    return values;
  }

  /** What looks at how it was called must not find a stub there, in itself or in what calls it. */
  #possibleStubs(readable: ReadonlySet<string>): ReadonlySet<string> {
    const watching = [...this.#definitions].filter(([, text]) => LOOKS_AT_CALLS.test(text));
    const real = this.#graph.reaching(watching.map(([name]) => name));
    // bash itself calls it.
    if (this.#definitions.has(HANDLER)) {
      for (const name of this.#graph.reachedFrom([HANDLER])) real.add(name);
    }
    return new Set([...readable].filter((name) => !real.has(name)));
  }

  #looksAtFunctions(name: string): boolean {
    const known = this.#looking.get(name);
    if (known !== undefined) return known;
    const looks = LOOKS_AT_FUNCTIONS.test(this.#definitions.get(name) ?? '');
    this.#looking.set(name, looks);
    return looks;
  }
}

/** Whether a name stands in a text, and not within an option, a path or a longer name. */
function hasWord(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before, after] = [text[at - 1] ?? '', text[at + name.length] ?? ''];
    if (!OF_WORDS.test(before) && !OF_WORDS.test(after)) return true;
  }
  return false;
}

const OF_WORDS = /[\w./+@%~${-]/;

/** As a word of its own: no option, path or part of a name. */
const word = (words: string): string => `(?<![\\w./-])(?:${words})(?![\\w-])`;

/** Other elements than the first of what a function knows about its callers. */
const CALLERS = [
  '\\b(?:FUNCNAME|BASH_SOURCE)\\[(?!0\\])',
  '(?<![${])\\b(?:FUNCNAME|BASH_SOURCE)\\b',
  '\\b(?:BASH_LINENO|BASH_ARGC|BASH_ARGV|FUNCNEST)\\b',
  word('caller'),
];

/** Traps of calls. (No more is looked at, or many of them on a line would take long.) */
const TRAPS = [
  `${word('trap')}(?![^\\n]{0,400}\\b(?:EXIT|HUP|INT|PIPE|QUIT|TERM|USR[12])[ \\t]*(?:[;&|)\\n]|$))`,
  `${word('trap')}[^\\n]{0,400}\\b(?:DEBUG|ERR|RETURN|debug|err|return)\\b`,
];

/** `PIPESTATUS` is of what was run last, and then that is a stub's. */
const LOOKS_AT_CALLS = new RegExp([...CALLERS, ...TRAPS, '\\bPIPESTATUS\\b'].join('|'));

const SAFE_OPTION = '[-+](?:[efuC]+|[efuC]*o\\s+(?:pipefail|errexit|nounset|noglob|noclobber))';

/** Words that print functions or hand them on, modes of the shell, and words of ours replaced. */
const SHOWS = [
  ...TRAPS,
  `${word('declare|typeset')}(?!\\s+-[aAgilnprtux]+\\s+\\S|\\s+\\w)`,
  `${word('export|readonly')}\\s+-\\w*f`,
  `${word('command')}\\s+-\\w*V`,
  `${word('type')}[ \\t]`,
  `${word('set')}(?!\\s+--|(?:\\s+${SAFE_OPTION})+\\s*(?:[;&|)\\n]|$))`,
  `${word('shopt')}\\s+-\\w*o`,
  `${word('enable|ulimit')}\\s+-`,
  word('compgen|extdebug|compat\\d+'),
  '\\bwhich_declare\\b|\\bforkline_',
  '\\b(?:builtin|command)\\s*\\(\\s*\\)|\\bfunction\\s+(?:builtin|command)\\b',
];

/** What could show in a function that others are stubs; what looks at calls finds none around it. */
const LOOKS_AT_FUNCTIONS = new RegExp(SHOWS.join('|'));

/** What could show that in a command. */
const LOOKS_AROUND = new RegExp([...CALLERS, ...SHOWS].join('|'));
