import { quoteWord } from '../support/quote.js';

/** What is told of a shell once it has read something, as a part of a group. */
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
 * What an interactive bash is given: it reads the rc file, and tells what that has changed. As one
 * group it is parsed before any alias of the rc file is there; `builtin` steps around functions, and
 * nothing is split at `IFS`, which may be readonly.
 *
 * The rc file can write nowhere, and neither can what it starts: fd 9 is closed for it.
 * A record is its kind and its fields, each with a NUL at its end.
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
 * The command that captures an rc file. rc files of users stop at once when the shell is not
 * interactive, so this one is; without a terminal it does without job control.
 */
export function captureCommand(rcFile: string): string {
  const script = quoteWord(DUMP, 'plain');
  const file = quoteWord(rcFile, 'plain');
  return `exec "\${BASH:?}" --noprofile --norc -i -c ${script} bash ${file} 2>/dev/null`;
}

/** A command that reads a snapshot with all its functions, and tells what that has left. */
export function readBackCommand(file: string): string {
  return `{
  exec 9>&1 >/dev/null 2>&1
  builtin . ${quoteWord(file, 'plain')} every 9>&-
  ${AFTER}
}`;
}

/** A variable as bash tells it. */
export interface Variable {
  /** What it is as text; of an array the first element. */
  readonly value: string;
  /** `declare -x NAME="value"` */
  readonly declaration: string;
}

/** What the rc file has left in its shell. Text is one character a byte. */
export interface CapturedShell {
  /** Lines of `shopt -p` and `set +o`, before and after. */
  readonly optionsBefore: readonly string[];
  readonly optionsAfter: readonly string[];
  readonly path: string;
  /** Those that it has set, changed or exported, by name; the shell's own among them. */
  readonly variables: ReadonlyMap<string, Variable>;
  readonly aliases: ReadonlyMap<string, string>;
  /** Their definitions, by name. */
  readonly functions: ReadonlyMap<string, string>;
}

/** Reads what {@link captureCommand} or {@link readBackCommand} prints; undefined when that is not all of it. */
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
