/** Functions by these names would come between the snapshot and the command. */
export const RESERVED: ReadonlySet<string> = new Set(['builtin', 'command', 'eval']);

/** What bash calls for a command that is not found. */
export const HANDLER = 'command_not_found_handle';

/**
 * The functions that are for the user, and those private ones (`_x`) that these or the aliases may
 * call: without them they would be there and fail. Where a name is only made when it is called, that
 * is any private function which does not serve completion.
 *
 * @returns Their definitions, by name.
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

/** A command whose name, or a part of it, is a value. */
const COMPUTED_CALL =
  /(?:^|[\n;&|({!]|\b(?:then|do|else|elif|if|while|until|eval|command|builtin|exec|time)[ \t])[ \t]*"?[\w.:+-]*[$`]/;

/** What only a shell that completes has a use for. */
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

/** Adds functions with all private ones that they mention, and so on. */
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
 * bash calls the handler in a process of its own for each command that is not found. One that calls
 * such a command itself would go on without end.
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

/** Its definition lies in a file of this name. */
function isFunctionName(name: string): boolean {
  return /^[A-Za-z_][\w.:+-]{0,199}$/.test(name) && !RESERVED.has(name);
}
