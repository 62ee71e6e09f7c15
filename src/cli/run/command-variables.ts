/** Variables that commands do not inherit from a host, since they tell a server how and where to serve. */
const MEANT_FOR_COMMANDS = ['NODE_ENV', 'PORT'] as const;

/** Adds those to the given variables: this program serves nothing, so they were set for its command. */
export function commandVariables(
  given: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const own = MEANT_FOR_COMMANDS.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(own), ...given };
}
