import { quoteWord } from '../support/quote.js';
import { HANDLER } from './kept-functions.js';
import { plainCommands } from './plain-commands.js';
import { aliasWords } from './snapshot-text.js';

/** The parts of a snapshot that could matter to a command. */
interface SnapshotContents {
  readonly functions: ReadonlyMap<string, string>;
  readonly aliases: ReadonlyMap<string, string>;
  /** Lines of `shopt` and `set` for options that differ from those of a new shell. */
  readonly options: readonly string[];
  /** Variables for the shell alone, by name. */
  readonly declared: ReadonlyMap<string, unknown>;
}

/**
 * Finds commands that no function and no variable of a snapshot can change, as most are: calls of
 * programs by their names. They need not read the snapshot.
 */
export class UnaffectedCommands {
  readonly #functions: ReadonlyMap<string, string>;
  readonly #aliases: ReadonlyMap<string, string>;
  readonly #declared: ReadonlyMap<string, unknown>;
  readonly #options: readonly string[];
  readonly #cdTakesVariables: boolean;
  readonly #mayBeUnaffected: boolean;

  constructor({ functions, aliases, options, declared }: SnapshotContents) {
    this.#functions = functions;
    this.#aliases = aliases;
    this.#declared = declared;
    this.#options = options.filter((line) => !FOR_TYPISTS.test(line));
    this.#cdTakesVariables = options.includes('shopt -s cdable_vars');
    this.#mayBeUnaffected =
      !functions.has(HANDLER) && ![...declared.keys()].some((name) => OF_THE_SHELL.test(name));
  }

  /**
   * Returns the text that a shell is given for a command: the command itself, if possible; undefined when
   * it needs the snapshot.
   */
  textFor(command: string): string | undefined {
    const used = new Map<string, string>();
    if (!this.#mayBeUnaffected || !this.#isUnaffected(command, used)) return undefined;
    const before = [...this.#options];
    if (used.size > 0) before.push('shopt -s expand_aliases', `alias -- ${aliasWords(used)}`);
    if (before.length === 0) return command;
    return `{ ${before.join('; ')}; } >/dev/null 2>&1; eval -- ${quoteWord(command, 'plain')}`;
  }

  /** @param used Collects the aliases. */
  #isUnaffected(text: string, used: Map<string, string>): boolean {
    const commands = plainCommands(text);
    if (commands === undefined || commands.variables.some((one) => this.#isOfSnapshot(one))) {
      return false;
    }
    return commands.names.every((name) => this.#isUnaffectedName(name, used));
  }

  #isOfSnapshot(variable: string): boolean {
    return this.#declared.has(variable) || TELLS_OF_SHELL.test(variable);
  }

  #isUnaffectedName(name: string, used: Map<string, string>): boolean {
    if (this.#functions.has(name) || (name === 'cd' && this.#cdTakesVariables)) return false;
    const value = this.#aliases.get(name);
    if (value === undefined || used.has(name)) return true;
    // After a blank the next word may be an alias too.
    if (/[ \t]$/.test(value) || !plainCommands(value)?.isContinued) return false;
    return this.#isUnaffected(value, used.set(name, value));
  }
}

/** Variables that tell about options, about files that were read and about commands that ran. */
const TELLS_OF_SHELL = /^(?:_|BASH\w*|SHELLOPTS)$/;

/** Options that only matter when a user types. */
const FOR_TYPISTS =
  / (?:autocd|cdspell|checkjobs|checkwinsize|cmdhist|complete_fullquote|direxpand|dirspell|force_fignore|hist\w+|hostcomplete|lithist|no_empty_cmd_completion|progcomp\w*|promptvars)$/;

/** Variables that bash itself uses, in any kind of command. */
const OF_THE_SHELL = /^(?:LC_\w+|LANG|HOME|GLOBSORT)$/;
