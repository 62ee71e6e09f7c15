import { quoteWord } from '../support/quote.js';
import type { CapturedShell } from './capture-script.js';
import { keptFunctions, RESERVED } from './kept-functions.js';

/** Options that make a shell something else than a runner of commands, or only fit a terminal. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['onecmd', 'monitor', 'restricted', 'errexit', 'noexec'],
  ...['history', 'histexpand', 'emacs', 'vi', 'ignoreeof', 'notify', 'privileged'],
  ...['xtrace', 'verbose'],
  ...['expand_aliases', 'login_shell', 'restricted_shell'],
]);

/**
 * What is sourced before a command: variables, functions, options, aliases. Aliases come last, or they would be
 * expanded in the functions; each function is parsed on its own, so that one that bash cannot read
 * again takes no other with it.
 *
 * @param declarations Of variables, as `keptVariables` makes them.
 */
export function snapshotText(
  captured: Omit<CapturedShell, 'path' | 'variables'>,
  declarations: readonly string[] = [],
): string {
  const aliases = [...captured.aliases].filter(([name]) => isAliasName(name));
  const functions = keptFunctions(
    captured.functions,
    aliases.map(([, value]) => value),
  );
  return [
    // Code of the caller's may have run before: see `runsCodeFirst`.
    `\\unset -f ${[...RESERVED].join(' ')}`,
    ...declarations,
    // Patterns in functions may need extglob to be parsed at all.
    '\\shopt -s expand_aliases extglob',
    ...functions.map((definition) => `\\eval -- ${quoteWord(definition, 'plain')}`),
    'shopt -u extglob',
    ...changedOptions(captured),
    ...aliases.map(([name, value]) => `alias -- ${quoteWord(`${name}=${value}`, 'plain')}`),
    '',
  ].join('\n');
}

/**
 * The command with a snapshot sourced before it. Aliases apply to what is parsed after they are
 * known, so the command is parsed by an `eval` of its own; on the same line, so that its lines keep
 * their numbers. Without the file it runs all the same.
 *
 * @param runsCodeFirst Code of the caller's runs before, which may have put a function in place of
 *   `eval`, or an alias in place of any word. Then the command stands as it is, on a line of its own.
 */
export function withSnapshot(file: string, command: string, runsCodeFirst = false): string {
  const path = quoteWord(file, 'plain');
  if (runsCodeFirst) return `\\. ${path} >/dev/null 2>&1\n${command}`;
  return `command . ${path} >/dev/null 2>&1; eval -- ${quoteWord(command, 'plain')}`;
}

/** The lines that an rc file has changed: the rest is as in every shell, or as in every terminal. */
function changedOptions({
  optionsBefore,
  optionsAfter,
}: Pick<CapturedShell, 'optionsBefore' | 'optionsAfter'>): string[] {
  const before = new Set(optionsBefore);
  return optionsAfter.filter((line) => {
    const [, name] = /^(?:shopt -[su]|set [-+]o) ([\w-]+)$/.exec(line) ?? [];
    return name !== undefined && !LEFT_OUT.has(name) && !before.has(line);
  });
}

/** What `alias` takes for a name; a blank or an operator in one could not be called anyhow. */
function isAliasName(name: string): boolean {
  return /^[^ \t\n/$`='"\\|&;()<>]+$/.test(name) && !RESERVED.has(name);
}
