import type { CapturedShell, Variable } from './capture-script.js';

/**
 * What bash reads as it was, of what it has printed: that is not always what it can read.
 *
 * @param found What a shell has that has read it; undefined: that could not be seen.
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

/** The variables that are read as they were: see {@link readableFunctions}. */
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

/** The keys of an associative array have no order that stays. */
function withoutOrder(declaration: string): string {
  return declaration.startsWith('declare -A')
    ? declaration.replace(/\)\n$/, ' ').split(' [').sort().join(' [')
    : declaration;
}
