/** Names of functions that would break the snapshot's own commands. */
export const RESERVED: ReadonlySet<string> = new Set(['builtin', 'command', 'eval']);

/** The function that bash calls for a command that is not found. */
export const HANDLER = 'command_not_found_handle';

/**
 * Returns the functions for the user, and the private ones (`_x`) that these or the aliases may call,
 * without which they would fail. Where a called name is computed, it adds all private functions except
 * those for completion.
 *
 * @returns Definitions, by name.
 */
export function keptFunctions(
  functions: ReadonlyMap<string, string>,
  aliases: Iterable<string>,
): ReadonlyMap<string, string> {
  const named = (name: string): boolean => functions.has(name) && isFunctionName(name);
  const kept = new Set<string>();
  const open = [...functions.keys()].filter((name) => !isPrivate(name));
  addReachable(functions, kept, [...open, ...[...aliases].flatMap(mentioned)].filter(named));
  const texts = [...aliases, ...[...kept].map((name) => functions.get(name) ?? '')];
  if (texts.some((text) => COMPUTED_CALL.test(text))) {
    const completes = ofCompletion(functions);
    const others = [...functions.keys()].filter((name) => isPrivate(name) && !completes.has(name));
    addReachable(functions, kept, others.filter(named));
  }
  return withGuard(new Map([...kept].map((name) => [name, functions.get(name) ?? ''])));
}

/** A command whose name, or a part of it, is computed. */
const COMPUTED_CALL =
  /(?:^|[\n;&|({!]|\b(?:then|do|else|elif|if|while|until|eval|command|builtin|exec|time)[ \t])[ \t]*"?[\w.:+-]*[$`]/;

/** Words that only completion uses. */
const COMPLETES = /\b(?:COMPREPLY|COMP_[A-Z]+|compgen|compopt)\b/;

function ofCompletion(functions: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set<string>();
  const first = [...functions].filter(([name, text]) => isPrivate(name) && COMPLETES.test(text));
  addReachable(
    functions,
    found,
    first.map(([name]) => name),
  );
  return found;
}

/** Adds functions with all private functions that they mention, and so on. */
function addReachable(
  functions: ReadonlyMap<string, string>,
  found: Set<string>,
  names: readonly string[],
): void {
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const text = functions.get(name);
    if (text === undefined || found.has(name) || !isFunctionName(name)) continue;
    found.add(name);
    waiting.push(...mentioned(text));
  }
}

function mentioned(text: string): string[] {
  return text.match(/_[\w.:+-]*/g) ?? [];
}

/**
 * Guards the handler against endless recursion: bash calls it in a new process for each command that is
 * not found, also for such a command of the handler's own.
 */
function withGuard(kept: Map<string, string>): ReadonlyMap<string, string> {
  const handler = kept.get(HANDLER);
  if (handler === undefined) return kept;
  const own = 'forkline_not_found';
  return kept.set(own, handler.replace(HANDLER, own)).set(
    HANDLER,
    `${HANDLER} () {
  if [[ -v forkline_not_found_within ]]; then
    builtin printf 'bash: %s: command not found\\n' "$1" 1>&2
    return 127
  fi
  local forkline_not_found_within=1
  ${own} "$@"
}
`,
  );
}

function isPrivate(name: string): boolean {
  return name.startsWith('_');
}

/** Returns whether a function's name can be the name of its file. */
function isFunctionName(name: string): boolean {
  return /^[A-Za-z_][\w.:+-]{0,199}$/.test(name) && !RESERVED.has(name);
}
