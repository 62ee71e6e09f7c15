/**
 * Variables by which the host is told how and where to serve. A command that took them for its own would install
 * no packages for development, and serve on a port that is taken. Withheld with the secrets alone: a caller that
 * asks for all variables gets them.
 */
export const HOSTS_OWN: ReadonlySet<string> = new Set(['NODE_ENV', 'PORT']);
