import { checkObject, isMissing, type OptionNames, wholeFrom } from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';
import type { Always } from './restriction.js';

/** Limits of one client. */
export interface ClientLimits {
  /** The number of calls under way. */
  readonly maxCalls: number;
  /** The number of tools. */
  readonly maxSessions: number;
  /** Bytes of incomplete messages; also the length of the longest message. */
  readonly maxBytes: number;
}

/** Options of tools, functions and objects included, by the name that a client asks for. */
export type Profiles = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Options that are the same for all clients of a far side. */
export interface ServeOptions {
  /**
   * Options of tools, by the name that a client asks for: `{ agents: { interceptor, ui } }`. Functions
   * and objects belong here, since they cannot be sent. Default: none.
   */
  readonly profiles?: Profiles | undefined;
  /**
   * Options that all commands and tools of clients have: a sandbox, limits, variables, directories. A
   * client that gives one of them is refused. Default: none.
   */
  readonly always?: Always | undefined;
  /** The number of calls that a client may have under way. Default: 256. */
  readonly maxCalls?: number | undefined;
  /** The number of tools that a client may have. Default: 64. */
  readonly maxSessions?: number | undefined;
  /** Bytes of one message: a command with all its options. Default: 67,108,864 (64 MiB). */
  readonly maxBytes?: number | undefined;
}

/** The names of those options. */
export const SERVE_OPTION_NAMES: OptionNames<ServeOptions> = {
  profiles: true,
  always: true,
  maxCalls: true,
  maxSessions: true,
  maxBytes: true,
};

/**
 * Returns the limits with their defaults.
 *
 * @throws {InputError} A limit is not valid.
 */
export function limitsOf(options: ServeOptions): ClientLimits {
  return {
    maxCalls: wholeFrom('maxCalls', 1, options.maxCalls ?? 256),
    maxSessions: wholeFrom('maxSessions', 1, options.maxSessions ?? 64),
    maxBytes: wholeFrom('maxBytes', 65_536, options.maxBytes ?? 64 * 1024 * 1024),
  };
}

/**
 * Returns the profiles.
 *
 * @throws {InputError} The profiles are not objects of options.
 */
export function profilesOf({ profiles }: ServeOptions): Profiles {
  if (isMissing(profiles)) return {};
  checkObject('profiles', profiles);
  for (const [name, options] of Object.entries(profiles)) checkObject(`profiles.${name}`, options);
  return profiles;
}

/**
 * Returns the options with `undefined` in place of `null` for variables to be removed: JSON has no
 * `undefined`.
 */
export function withRemovals<Options extends { readonly env?: unknown }>(
  options: Options,
): Options {
  const { env } = options;
  if (typeof env !== 'object' || env === null) return options;
  const variables = Object.entries(env).map(([name, value]) => [name, value ?? undefined]);
  return { ...options, env: Object.fromEntries(variables) };
}

/**
 * Refuses to pass on this process's whole environment, which may hold what is not the client's.
 *
 * @throws {InputError} `inheritEnv` is `all`, and that is not allowed.
 */
export function checkInherited(inheritEnv: unknown, mayInheritAll: boolean): void {
  if (mayInheritAll || inheritEnv !== 'all') return;
  throw new InputError(
    `inheritEnv: expected "scrubbed" or "none" on a worker of a fleet, got ${showValue(inheritEnv)}`,
  );
}
