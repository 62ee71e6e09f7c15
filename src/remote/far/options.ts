import { checkObject, isMissing, type OptionNames, wholeFrom } from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';

/** How much one client may have at a time. */
export interface ClientLimits {
  /** Calls under way. */
  readonly maxCalls: number;
  /** Tools. */
  readonly maxSessions: number;
  /** Bytes of messages that are not whole yet; also the longest message. */
  readonly maxBytes: number;
}

/** Options of tools by the name that a client asks for them with: functions and objects, too. */
export type Profiles = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What every client of a far side is served with. */
export interface ServeOptions {
  /**
   * Options of tools, by the name that a client asks for them with: `{ agents: { interceptor, ui } }`.
   * This is where functions and objects have their place, since they cannot be sent. Default: none.
   */
  readonly profiles?: Profiles | undefined;
  /** How many calls a client may have under way. Default: 256. */
  readonly maxCalls?: number | undefined;
  /** How many tools a client may have. Default: 64. */
  readonly maxSessions?: number | undefined;
  /** Bytes of one message: of a command, and all that goes with it. Default: 67,108,864 (64 MiB). */
  readonly maxBytes?: number | undefined;
}

/** The names of those options. */
export const SERVE_OPTION_NAMES: OptionNames<ServeOptions> = {
  profiles: true,
  maxCalls: true,
  maxSessions: true,
  maxBytes: true,
};

/** @throws {InputError} A limit or the profiles are not valid. */
export function limitsOf(options: ServeOptions): ClientLimits {
  return {
    maxCalls: wholeFrom('maxCalls', 1, options.maxCalls ?? 256),
    maxSessions: wholeFrom('maxSessions', 1, options.maxSessions ?? 64),
    maxBytes: wholeFrom('maxBytes', 65_536, options.maxBytes ?? 64 * 1024 * 1024),
  };
}

/** @throws {InputError} They are no objects of options. */
export function profilesOf({ profiles }: ServeOptions): Profiles {
  if (isMissing(profiles)) return {};
  checkObject('profiles', profiles);
  for (const [name, options] of Object.entries(profiles)) checkObject(`profiles.${name}`, options);
  return profiles;
}

/** An environment with `null` for a variable that is removed, as it came over the line. */
export function withRemovals<Options extends { readonly env?: unknown }>(
  options: Options,
): Options {
  const { env } = options;
  if (typeof env !== 'object' || env === null) return options;
  const variables = Object.entries(env).map(([name, value]) => [name, value ?? undefined]);
  return { ...options, env: Object.fromEntries(variables) };
}

/**
 * Whoever serves others has what is not theirs in its environment.
 *
 * @throws {InputError} All of it is asked for, where that is not given away.
 */
export function checkInherited(inheritEnv: unknown, mayInheritAll: boolean): void {
  if (mayInheritAll || inheritEnv !== 'all') return;
  throw new InputError(
    `inheritEnv: expected "scrubbed" or "none" on a worker of many, got ${showValue(inheritEnv)}`,
  );
}
