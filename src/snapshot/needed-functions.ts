import { isClosed, isClosedAlias, isClosedFunction } from './closed-texts.js';
import { EVERY, isPosixName, type Selection } from './function-files.js';
import { FunctionGraph } from './function-graph.js';
import { HANDLER } from './kept-functions.js';

/** Longer texts are not examined: bash needs time to read them anyway. */
const MAX_TEXT = 32 * 1024;

/**
 * Finds the functions that a command needs in full: those that its text names, also through aliases,
 * those that they name, and so on. A function that is called by a computed name, or in a sourced script,
 * may be a stub, which differs hardly; so a text that examines functions, or how they were called, gets
 * all of them. Where nothing can call one in such a way, the others are left out.
 */
export class NeededFunctions {
  readonly #definitions: ReadonlyMap<string, string>;
  readonly #aliases: ReadonlyMap<string, string>;
  readonly #graph: FunctionGraph;
  readonly #stubs: ReadonlySet<string>;
  readonly #looking = new Map<string, boolean>();
  readonly #closed = new Map<string, boolean>();

  /**
   * @param definitions Definitions of the functions, by name.
   * @param readable Functions whose definitions bash reads back unchanged.
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

  /** The functions that may be stubs. */
  get stubs(): ReadonlySet<string> {
    return this.#stubs;
  }

  /** Returns what a command with this text is to source. */
  selectionFor(text: string): Selection {
    if (text.length > MAX_TEXT) return EVERY;
    const aliases = this.#aliasesIn(text);
    const texts = [text, ...aliases];
    if (texts.some((one) => LOOKS_AROUND.test(one))) return EVERY;
    const names = this.#graph.reachedFrom(texts.flatMap((one) => this.#graph.namedIn(one)));
    const needed: string[] = [];
    for (const name of names) {
      if (this.#looksAtFunctions(name)) return EVERY;
      if (this.#stubs.has(name)) needed.push(name);
    }
    if (isClosed(text) && [...aliases].every(isClosedAlias) && this.#areClosed(names)) {
      return ['named', ...names];
    }
    return 2 * needed.length > this.#definitions.size ? EVERY : ['stubs', ...needed];
  }

  /** Returns whether no other function can be called by these: then none need be there. */
  #areClosed(names: ReadonlySet<string>): boolean {
    // bash itself calls the handler.
    if (this.#definitions.has(HANDLER)) return false;
    return [...names].every((name) => isPosixName(name) && this.#isClosed(name));
  }

  #isClosed(name: string): boolean {
    const known = this.#closed.get(name);
    if (known !== undefined) return known;
    const closed = isClosedFunction(this.#definitions.get(name) ?? '');
    this.#closed.set(name, closed);
    return closed;
  }

  /** Returns the texts of the aliases that a text may use, and of those that these may use. */
  #aliasesIn(text: string): ReadonlySet<string> {
    const values = new Set<string>();
    const mayUse = (one: string): void => {
      for (const [name, value] of this.#aliases) if (hasWord(one, name)) values.add(value);
    };
    mayUse(text);
    for (const value of values) mayUse(value);
    return values;
  }

  /** A function that examines how it was called must not find a stub there, in itself or in its callers. */
  #possibleStubs(readable: ReadonlySet<string>): ReadonlySet<string> {
    const watching = [...this.#definitions].filter(([, text]) => LOOKS_AT_CALLS.test(text));
    const real = this.#graph.reaching(watching.map(([name]) => name));
    // bash itself calls the handler.
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

/** Returns whether a text contains a name, and not within an option, a path or a longer name. */
function hasWord(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before, after] = [text[at - 1] ?? '', text[at + name.length] ?? ''];
    if (!OF_WORDS.test(before) && !OF_WORDS.test(after)) return true;
  }
  return false;
}

const OF_WORDS = /[\w./+@%~${-]/;

/** Matches words on their own: no options, paths or parts of a name. */
const word = (words: string): string => `(?<![\\w./-])(?:${words})(?![\\w-])`;

/** Elements other than the first of a function's variables about its callers. */
const CALLERS = [
  '\\b(?:FUNCNAME|BASH_SOURCE)\\[(?!0\\])',
  '(?<![${])\\b(?:FUNCNAME|BASH_SOURCE)\\b',
  '\\b(?:BASH_LINENO|BASH_ARGC|BASH_ARGV|FUNCNEST)\\b',
  word('caller'),
];

/**
 * Traps of calls. (The text after a trap is searched for 400 characters only, or many traps on a line
 * would take long.)
 */
const TRAPS = [
  `${word('trap')}(?![^\\n]{0,400}\\b(?:EXIT|HUP|INT|PIPE|QUIT|TERM|USR[12])[ \\t]*(?:[;&|)\\n]|$))`,
  `${word('trap')}[^\\n]{0,400}\\b(?:DEBUG|ERR|RETURN|debug|err|return)\\b`,
];

/** `PIPESTATUS` is that of the last command, which would be the stub's. */
const LOOKS_AT_CALLS = new RegExp([...CALLERS, ...TRAPS, '\\bPIPESTATUS\\b'].join('|'));

const SAFE_OPTION = '[-+](?:[efuC]+|[efuC]*o\\s+(?:pipefail|errexit|nounset|noglob|noclobber))';

/**
 * Words that print functions or pass them on, change modes of the shell, or replace words of this
 * package.
 */
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

/**
 * Text in a function that could find out that others are stubs; for text that examines calls, no caller
 * is a stub.
 */
const LOOKS_AT_FUNCTIONS = new RegExp(SHOWS.join('|'));

/** Text in a command that could find out that functions are stubs. */
const LOOKS_AROUND = new RegExp([...CALLERS, ...SHOWS].join('|'));
