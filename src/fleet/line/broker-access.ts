import type { Authenticator, NodeConnectionOptions } from '@nats-io/transport-node';
import { checkString, isMissing } from '../../support/checks.js';
import { errorOf, hasCode, InputError, messageOf } from '../../support/errors.js';
import { type BrokerOptions, checkServers, contentOf, readableFiles } from './broker-options.js';

type AccessLibrary = Pick<
  typeof import('@nats-io/transport-node'),
  | 'credsAuthenticator'
  | 'nkeyAuthenticator'
  | 'AuthorizationError'
  | 'UserAuthenticationExpiredError'
>;

/** Where a broker is, and who asks there. */
export interface BrokerAccess {
  /** The broker's addresses, checked. */
  readonly servers: readonly string[];
  /** What the library is given. */
  readonly connection: NodeConnectionOptions & { readonly inboxPrefix: string };
  /** Proves who asks, by a file. */
  readonly authenticator: (library: AccessLibrary) => { readonly authenticator?: Authenticator };
}

/**
 * Checks options for reaching a broker, and reads their files.
 *
 * @param inboxPrefix The beginning of the subjects on which answers are heard.
 * @throws {InputError} An option is not valid, or would send secrets over an open line.
 */
export async function accessOf(options: BrokerOptions, inboxPrefix: string): Promise<BrokerAccess> {
  const servers = checkServers(options.servers, !isMissing(options.tls));
  for (const name of ['creds', 'nkey', 'token', 'user', 'password'] as const) {
    checkString(name, options[name]);
  }
  const { creds, nkey, token, user, password, tls } = options;
  const files = isMissing(tls) ? undefined : await readableFiles(tls);
  const identity = isMissing(creds) ? undefined : await contentOf('creds', creds);
  const seed = isMissing(nkey) ? undefined : seedOf(await contentOf('nkey', nkey));
  const isSecure = files !== undefined || servers.some((server) => server.startsWith('tls:'));
  return {
    servers,
    connection: {
      servers: [...servers],
      inboxPrefix,
      // Other addresses of a cluster may not be loopback.
      ignoreClusterUpdates: !isSecure,
      ...(!isMissing(token) && { token }),
      ...(!isMissing(user) && { user }),
      ...(!isMissing(password) && { pass: password }),
      ...(isSecure && { tls: files ?? {} }),
    },
    authenticator: (library) => ({
      ...(identity && { authenticator: library.credsAuthenticator(identity) }),
      ...(seed && { authenticator: library.nkeyAuthenticator(seed) }),
    }),
  };
}

/** What the system says of a broker that may come back. */
const ABSENT: readonly string[] = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EPIPE'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
];

/** Returns why a broker could not be connected to, and whether it may be there later. */
export function whyNotConnected(
  library: AccessLibrary,
  servers: readonly string[],
  error: unknown,
): { readonly message: string; readonly isAbsent: boolean } {
  const at = `The broker at ${servers.join(', ')}`;
  const { AuthorizationError, UserAuthenticationExpiredError } = library;
  if (error instanceof UserAuthenticationExpiredError) {
    return { message: `${at} says that these credentials have expired`, isAbsent: false };
  }
  if (error instanceof AuthorizationError) {
    return { message: `${at} refuses these credentials: ${error.message}`, isAbsent: false };
  }
  const thrown = errorOf(error);
  const isAbsent =
    thrown.name === 'TimeoutError' ||
    ABSENT.some((code) => hasCode(thrown, code) || hasCode(thrown.cause, code));
  return { message: `${at} can't be reached: ${messageOf(error)}`, isAbsent };
}

/** A seed of a user, on a line of its own; files may have comments around it. */
const SEED = /^SU[A-Z2-7]{56}$/m;

/**
 * Returns the seed in a file.
 *
 * @throws {InputError} The file has none.
 */
function seedOf(content: Buffer): Uint8Array {
  const [seed] = SEED.exec(content.toString()) ?? [];
  if (seed !== undefined) return Buffer.from(seed);
  throw new InputError('nkey: expected a file with the seed of a user: SU, and 56 more characters');
}
