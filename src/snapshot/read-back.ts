import type { CapturedShell, Variable } from './capture-script.js';

/**
 * Returns the functions that bash has read back unchanged: it cannot read all that it prints.
 *
 * @param found The state of a shell that has read them; undefined when it could not be seen.
 */
export function readableFunctions(
  definitions: ReadonlyMap<string, string>,
  found: Pick<CapturedShell, 'functions'> | undefined,
): ReadonlySet<string> {
  const same = [...definitions].filter(
    // A reserved word as a name needs `function` before it.
    ([name, text]) => found?.functions.get(name) === text && text.startsWith(`${name} ()`),
  );
  return new Set(same.map(([name]) => name));
}

/** Returns the variables that were read back unchanged: see {@link readableFunctions}. */
export function readableVariables(
  declared: ReadonlyMap<string, Variable>,
  found: Pick<CapturedShell, 'variables'> | undefined,
): ReadonlySet<string> {
  const same = [...declared].filter(([name, { declaration }]) => {
    const again = found?.variables.get(name)?.declaration;
    return again !== undefined && withoutOrder(again) === withoutOrder(declaration);
  });
  return new Set(same.map(([name]) => name));
}

/** Sorts the keys of an associative array, which have no fixed order. */
function withoutOrder(declaration: string): string {
  return declaration.startsWith('declare -A')
    ? declaration.replace(/\)\n$/, ' ').split(' [').sort().join(' [')
    : declaration;
}
