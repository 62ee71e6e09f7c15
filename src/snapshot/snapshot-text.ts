import { quoteWord } from '../support/quote.js';
import type { CapturedShell } from './capture-script.js';
import type { Selection } from './function-files.js';
import { RESERVED } from './kept-functions.js';

/** Options that would make a shell unfit for running commands, or only fit a terminal. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['onecmd', 'monitor', 'restricted', 'errexit', 'noexec'],
  ...['history', 'histexpand', 'emacs', 'vi', 'ignoreeof', 'notify', 'privileged'],
  ...['xtrace', 'verbose'],
  ...['expand_aliases', 'login_shell', 'restricted_shell'],
]);

/** The contents of a snapshot. */
interface SnapshotParts {
  /** Directory of the snapshot and its functions. */
  readonly directory: string;
  /** Declarations of variables, as `declarationsOf` makes them. */
  readonly declarations: readonly string[];
  /** Changed options, from {@link changedOptions}. */
  readonly options: readonly string[];
  readonly aliases: ReadonlyMap<string, string>;
}

/**
 * Makes the file that is sourced before a command: variables, functions, options, aliases. Aliases come
 * last, or they would be expanded in the functions.
 */
export function snapshotText({ directory, declarations, options, aliases }: SnapshotParts): string {
  return [
    // Code of the caller's may have run before: see `runsCodeFirst`.
    `\\unset -f ${[...RESERVED].join(' ')}`,
    ...declarations,
    // Patterns in functions may need extglob to be parsed at all.
    '\\builtin shopt -s expand_aliases extglob',
    `\\builtin command . ${quoteWord(`${directory}/`, 'plain')}"$1"`,
    '\\builtin shopt -u extglob',
    ...options.map((line) => `\\builtin ${line}`),
    ...aliasLine(aliases),
    '',
  ].join('\n');
}

/**
 * Returns the command with a snapshot sourced before it. Aliases apply to text that is parsed after they
 * are defined, so the command is parsed by an `eval` of its own; on the same line, so that its lines keep
 * their numbers. Without the file the command runs all the same.
 *
 * @param selection Functions to source: see `NeededFunctions`.
 * @param runsCodeFirst Whether code of the caller's runs before, which may have replaced `eval` by a
 * function, or any word by an alias. Then the command stands unquoted, on a line of its own.
 */
export function withSnapshot(
  file: string,
  selection: Selection,
  command: string,
  runsCodeFirst = false,
): string {
  const source = `. ${quoteWord(file, 'plain')} ${selection.join(' ')} >/dev/null 2>&1`;
  if (runsCodeFirst) return `\\${source}\n${command}`;
  return `command ${source}; eval -- ${quoteWord(command, 'plain')}`;
}

/**
 * Returns the option lines that an rc file has changed: the others are the same in every shell, or in
 * every terminal.
 */
export function changedOptions({
  optionsBefore,
  optionsAfter,
}: Pick<CapturedShell, 'optionsBefore' | 'optionsAfter'>): string[] {
  const before = new Set(optionsBefore);
  return optionsAfter.filter((line) => {
    const [, name] = /^(?:shopt -[su]|set [-+]o) ([\w-]+)$/.exec(line) ?? [];
    return name !== undefined && !LEFT_OUT.has(name) && !before.has(line);
  });
}

/** Returns whether functions may be stubs with the options of an rc file: see `NeededFunctions`. */
export function allowsStubs(options: readonly string[]): boolean {
  return options.every((line) =>
    /^(?:shopt -[su] (?!extdebug|compat)|set [-+]o (?:pipefail|no(?:clobber|glob|unset)|physical)$)/.test(
      line,
    ),
  );
}

function aliasLine(aliases: ReadonlyMap<string, string>): string[] {
  return aliases.size === 0 ? [] : [`\\builtin alias -- ${aliasWords(aliases)}`];
}

/** Returns the arguments of `alias` that define them. */
export function aliasWords(aliases: Iterable<readonly [name: string, value: string]>): string {
  return [...aliases].map(([name, value]) => quoteWord(`${name}=${value}`, 'plain')).join(' ');
}

/**
 * Selects aliases whose names `alias` accepts; a name with a blank or an operator could not be called
 * anyway.
 */
export function keptAliases(aliases: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(
    [...aliases].filter(([name]) => /^[^ \t\n/$`='"\\|&;()<>]+$/.test(name) && !RESERVED.has(name)),
  );
}
