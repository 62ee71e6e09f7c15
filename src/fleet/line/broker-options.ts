import { readFile } from 'node:fs/promises';
import { checkObject, checkString, type OptionNames, readOptions } from '../../support/checks.js';
import { InputError, messageOf, showValue } from '../../support/errors.js';

/** How a broker is reached. */
export interface BrokerOptions {
  /** Its addresses: `tls://nats.example:4222`; `nats://127.0.0.1:4222`, which is loopback's alone. */
  readonly servers: string | readonly string[];
  /** A file with credentials, as `nsc` writes them. Default: none. */
  readonly creds?: string | undefined;
  /** The token that the broker wants to see. Default: none. */
  readonly token?: string | undefined;
  /** A user of the broker. Default: none. */
  readonly user?: string | undefined;
  /** The user's password. Default: none. */
  readonly password?: string | undefined;
  /** Files with certificates and keys. Default: the system's own certificates, and no key. */
  readonly tls?: TlsFiles | undefined;
}

/** What TLS takes that the system has not. */
export interface TlsFiles {
  /** Certificates that the broker's may come from. Default: the system's. */
  readonly ca?: string | undefined;
  /** A certificate to show to the broker. Default: none. */
  readonly cert?: string | undefined;
  /** Its key. Default: none. */
  readonly key?: string | undefined;
}

/** The names of those options. */
export const BROKER_OPTION_NAMES = {
  servers: true,
  creds: true,
  token: true,
  user: true,
  password: true,
  tls: true,
} as const;

const SCHEMES: readonly string[] = ['nats:', 'tls:'];
const LOOPBACK = /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/;

/**
 * What is said over a broker is commands and their output: it stays on this machine, or goes by TLS.
 *
 * @throws {InputError} One is no address, has credentials in it, or is another machine's without TLS.
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
      'servers: expected no credentials in an address, where everybody sees them: give creds, token or user',
    );
  }
  if (url.protocol === 'nats:' && !hasTls && !LOOPBACK.test(url.hostname)) {
    throw new InputError(`servers: expected tls:// for another machine, got ${showValue(server)}`);
  }
  return text === url.href ? url.href : `${url.protocol}//${url.host}`;
}

const TLS_NAMES: OptionNames<TlsFiles> = { ca: true, cert: true, key: true };

/**
 * The files by the names that the library has for them.
 *
 * @throws {InputError} One can't be read: the library would only say so at the broker's.
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

/** @throws {InputError} It can't be read. */
export async function contentOf(name: string, path: string): Promise<Buffer> {
  checkString(name, path);
  try {
    return await readFile(path);
  } catch (error) {
    throw new InputError(`${name}: expected a file that can be read: ${messageOf(error)}`);
  }
}
