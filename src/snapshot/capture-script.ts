import { quoteWord } from '../support/quote.js';

/** Prints a shell's state after it has read a file, as a part of a group. */
const AFTER = `builtin trap - DEBUG ERR RETURN EXIT
  { builtin printf 'after\\0'; builtin shopt -p; builtin set +o; builtin printf '\\0'; } >&9
  builtin set +euxvf +o posix
  builtin printf 'path\\0%s\\0' "$PATH" >&9
  builtin mapfile -t forkline_names < <(builtin compgen -v)
  for forkline_name in "\${forkline_names[@]}"; do
    builtin printf 'is\\0%s\\0%s\\0' "$forkline_name" "\${!forkline_name}" >&9
    builtin declare -p -- "$forkline_name" >&9
    builtin printf '\\0' >&9
  done
  for forkline_name in "\${!BASH_ALIASES[@]}"; do
    builtin printf 'alias\\0%s\\0%s\\0' "$forkline_name" "\${BASH_ALIASES[$forkline_name]}" >&9
  done
  builtin mapfile -t forkline_names < <(builtin compgen -A function)
  for forkline_name in "\${forkline_names[@]}"; do
    builtin printf 'function\\0%s\\0' "$forkline_name" >&9
    builtin declare -f -- "$forkline_name" >&9
    builtin printf '\\0' >&9
  done
  builtin printf 'end\\0' >&9`;

/**
 * The script of an interactive bash that reads the rc file, and prints the changes it made. As one group
 * it is parsed before any alias of the rc file exists; `builtin` bypasses functions, and nothing is split
 * at `IFS`, which may be readonly.
 *
 * The rc file and the processes it starts cannot write to the dump: fd 9 is closed for them. A record is
 * its kind and its fields, each with a NUL at its end.
 */
const DUMP = `{
  exec 9>&1 >/dev/null 2>&1
  { builtin printf 'before\\0'; builtin shopt -p; builtin set +o; builtin printf '\\0'; } >&9
  builtin mapfile -t forkline_names < <(builtin compgen -v)
  for forkline_name in "\${forkline_names[@]}"; do
    builtin printf 'was\\0%s\\0' "$forkline_name" >&9
    builtin declare -p -- "$forkline_name" >&9
    builtin printf '\\0' >&9
  done
  builtin . "$1" 9>&-
  ${AFTER}
}`;

/**
 * Makes the command that captures an rc file. The shell is interactive, since users' rc files return at
 * once in one that is not; without a terminal it has no job control.
 */
export function captureCommand(rcFile: string): string {
  const script = quoteWord(DUMP, 'plain');
  const file = quoteWord(rcFile, 'plain');
  return `exec "\${BASH:?}" --noprofile --norc -i -c ${script} bash ${file} 2>/dev/null`;
}

/** Makes the command that reads a snapshot with all its functions, and prints the resulting state. */
export function readBackCommand(file: string): string {
  return `{
  exec 9>&1 >/dev/null 2>&1
  builtin . ${quoteWord(file, 'plain')} every 9>&-
  ${AFTER}
}`;
}

/** A variable as bash prints it. */
export interface Variable {
  /** The value as text; of an array the first element. */
  readonly value: string;
  /** `declare -x NAME="value"` */
  readonly declaration: string;
}

/** The state of a shell after it has read the rc file. Text is one character a byte. */
export interface CapturedShell {
  /** Lines of `shopt -p` and `set +o`, before and after. */
  readonly optionsBefore: readonly string[];
  readonly optionsAfter: readonly string[];
  readonly path: string;
  /** The variables that were set, changed or exported, by name; the shell's own included. */
  readonly variables: ReadonlyMap<string, Variable>;
  readonly aliases: ReadonlyMap<string, string>;
  /** Definitions of functions, by name. */
  readonly functions: ReadonlyMap<string, string>;
}

/**
 * Parses the output of {@link captureCommand} or {@link readBackCommand}; returns undefined when it is
 * incomplete.
 */
export function parseCapture(dump: string): CapturedShell | undefined {
  const fields = dump.split('\0');
  const aliases = new Map<string, string>();
  const functions = new Map<string, string>();
  const single = new Map<string, string>();
  const before = new Map<string, string>();
  const variables = new Map<string, Variable>();
  let at = 0;
  const take = (): string => fields[at++] ?? '';
  while (at < fields.length) {
    const kind = take();
    if (kind === 'alias') aliases.set(take(), take());
    else if (kind === 'function') functions.set(take(), take());
    else if (kind === 'was') before.set(take(), take());
    else if (kind === 'is') {
      const [name, value, declaration] = [take(), take(), take()];
      if (before.get(name) !== declaration) variables.set(name, { value, declaration });
    } else if (kind === 'before' || kind === 'after' || kind === 'path') single.set(kind, take());
    else if (kind === 'end') {
      return {
        optionsBefore: (single.get('before') ?? '').split('\n'),
        optionsAfter: (single.get('after') ?? '').split('\n'),
        path: single.get('path') ?? '',
        variables,
        aliases,
        functions,
      };
    } else return undefined;
  }
  return undefined;
}
