import { quoteWord } from '../support/quote.js';
import type { CapturedShell } from './capture-script.js';
import type { Selection } from './function-files.js';
import { RESERVED } from './kept-functions.js';

/** Options that make a shell something else than a runner of commands, or only fit a terminal. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['onecmd', 'monitor', 'restricted', 'errexit', 'noexec'],
  ...['history', 'histexpand', 'emacs', 'vi', 'ignoreeof', 'notify', 'privileged'],
  ...['xtrace', 'verbose'],
  ...['expand_aliases', 'login_shell', 'restricted_shell'],
]);

/** What a snapshot is made of. */
interface SnapshotParts {
  /** Where it is, and its functions. */
  readonly directory: string;
  /** Of variables, as `declarationsOf` makes them. */
  readonly declarations: readonly string[];
  /** As {@link changedOptions} tells them. */
  readonly options: readonly string[];
  readonly aliases: ReadonlyMap<string, string>;
}

/**
 * What is sourced before a command: variables, functions, options, aliases. Aliases come last, or
 * they would be expanded in the functions.
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
 * The command with a snapshot sourced before it. Aliases apply to what is parsed after they are
 * known, so the command is parsed by an `eval` of its own; on the same line, so that its lines keep
 * their numbers. Without the file it runs all the same.
 *
 * @param selection Of functions: see `NeededFunctions`.
 * @param runsCodeFirst Code of the caller's runs before, which may have put a function in place of
 *   `eval`, or an alias in place of any word. Then the command stands as it is, on a line of its own.
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

/** The lines that an rc file has changed: the rest is as in every shell, or as in every terminal. */
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

/** Whether functions may be stubs with the options of an rc file: see `NeededFunctions`. */
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

/** What `alias` is given for them. */
export function aliasWords(aliases: Iterable<readonly [name: string, value: string]>): string {
  return [...aliases].map(([name, value]) => quoteWord(`${name}=${value}`, 'plain')).join(' ');
}

/** Those whose names `alias` takes; with a blank or an operator one could not be called anyhow. */
export function keptAliases(aliases: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(
    [...aliases].filter(([name]) => /^[^ \t\n/$`='"\\|&;()<>]+$/.test(name) && !RESERVED.has(name)),
  );
}
