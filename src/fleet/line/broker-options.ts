import { readFile } from 'node:fs/promises';
import { checkObject, checkString, type OptionNames, readOptions } from '../../support/checks.js';
import { InputError, messageOf, showValue } from '../../support/errors.js';

/** Options for reaching a broker. */
export interface BrokerOptions {
  /**
   * The broker's addresses: `tls://nats.example:4222`, or `nats://127.0.0.1:4222`, which is allowed for
   * loopback alone.
   */
  readonly servers: string | readonly string[];
  /** A file with credentials, as `nsc` writes it. Default: none. */
  readonly creds?: string | undefined;
  /** A file with the seed of a key pair (an nkey), as `nk -gen user` prints it. Default: none. */
  readonly nkey?: string | undefined;
  /** The token for the broker. Default: none. */
  readonly token?: string | undefined;
  /** A user of the broker. Default: none. */
  readonly user?: string | undefined;
  /** The user's password. Default: none. */
  readonly password?: string | undefined;
  /** Files with certificates and keys. Default: the system's own certificates, and no key. */
  readonly tls?: TlsFiles | undefined;
}

/** Files for TLS, besides the system's certificates. */
export interface TlsFiles {
  /**
   * A file with the authorities that may have signed the broker's certificate. Default: the system's.
   */
  readonly ca?: string | undefined;
  /** A file with the client's certificate. Default: none. */
  readonly cert?: string | undefined;
  /** A file with the key of that certificate. Default: none. */
  readonly key?: string | undefined;
}

/** The names of those options. */
export const BROKER_OPTION_NAMES = {
  servers: true,
  creds: true,
  nkey: true,
  token: true,
  user: true,
  password: true,
  tls: true,
} as const;

const SCHEMES: readonly string[] = ['nats:', 'tls:'];
const LOOPBACK = /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/;

/**
 * Checks the addresses. Commands and their output go over a broker: they stay on this machine, or need
 * TLS.
 *
 * @throws {InputError} A value is no address, has credentials in it, or is another machine's without
 *   TLS.
 */
export function checkServers(given: unknown, hasTls: boolean): readonly string[] {
  const servers = typeof given === 'string' ? [given] : given;
  if (!Array.isArray(servers) || servers.length === 0) {
    throw new InputError(`servers: expected an address or several, got ${showValue(given)}`);
  }
  return servers.map((server: unknown) => checkServer(server, hasTls));
}

function checkServer(server: unknown, hasTls: boolean): string {
  const text = typeof server === 'string' && !server.includes('://') ? `nats://${server}` : server;
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !SCHEMES.includes(url.protocol) || url.hostname === '') {
    throw new InputError(`servers: expected nats://HOST:PORT or tls://…, got ${showValue(server)}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new InputError(
      'servers: expected no credentials in an address, where other users see them: use creds, token or user',
    );
  }
  if (url.protocol === 'nats:' && !hasTls && !LOOPBACK.test(url.hostname)) {
    throw new InputError(`servers: expected tls:// for another machine, got ${showValue(server)}`);
  }
  return text === url.href ? url.href : `${url.protocol}//${url.host}`;
}

const TLS_NAMES: OptionNames<TlsFiles> = { ca: true, cert: true, key: true };

/**
 * Returns the files by the names that the library has for them.
 *
 * @throws {InputError} A file can't be read: the library would report that only while connecting.
 */
export async function readableFiles(
  given: TlsFiles,
): Promise<{ caFile?: string; certFile?: string; keyFile?: string }> {
  checkObject('tls', given);
  const { ca, cert, key } = readOptions('tls', given, TLS_NAMES, { within: 'tls.' });
  for (const [name, path] of Object.entries({ ca, cert, key })) {
    if (path !== undefined) await contentOf(`tls.${name}`, path);
  }
  return {
    ...(ca !== undefined && { caFile: ca }),
    ...(cert !== undefined && { certFile: cert }),
    ...(key !== undefined && { keyFile: key }),
  };
}

/**
 * Reads a file of an option.
 *
 * @throws {InputError} The file can't be read.
 */
export async function contentOf(name: string, path: string): Promise<Buffer> {
  checkString(name, path);
  try {
    return await readFile(path);
  } catch (error) {
    throw new InputError(`${name}: expected a file that can be read: ${messageOf(error)}`);
  }
}
