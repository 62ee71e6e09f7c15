import { HOSTS_OWN } from '../../support/hosts-own.js';

/**
 * Adds the variables that tell a host how and where to serve to the given ones: this program serves nothing, so
 * they were set for its command.
 */
export function commandVariables(
  given: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const own = [...HOSTS_OWN].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(own), ...given };
}
