import { quoteWord } from '../support/quote.js';

/**
 * A command that reads all functions of a snapshot, and prints them as the capture has.
 *
 * @param file That has every function read.
 */
export function readBackCommand(file: string): string {
  return `builtin shopt -s expand_aliases extglob
builtin command . ${quoteWord(file, 'plain')} >/dev/null 2>&1
builtin mapfile -t forkline_names < <(builtin compgen -A function)
for forkline_name in "\${forkline_names[@]}"; do
  builtin printf 'function\\0%s\\0' "$forkline_name"
  builtin declare -f -- "$forkline_name"
  builtin printf '\\0'
done
builtin printf 'end\\0'`;
}

/**
 * The functions whose definitions bash reads as they were: what it prints of one is not always what
 * it can read.
 *
 * @param definitions As captured, by name.
 * @param found What {@link readBackCommand} prints; undefined: it could not be read.
 */
export function readableFunctions(
  definitions: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string> | undefined,
): ReadonlySet<string> {
  const same = [...definitions].filter(
    // A reserved word as a name needs `function` before it.
    ([name, text]) => found?.get(name) === text && text.startsWith(`${name} ()`),
  );
  return new Set(same.map(([name]) => name));
}
