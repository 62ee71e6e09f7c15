import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { InputError } from '../index.js';

/** The reason why a request is refused before its content is read. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The error's data, besides its message. */
  readonly data?: unknown;
  /** The id of the request that the error answers, if it is known. */
  readonly id?: string | number | null;
}

/** Access to the server: local programs that know the token have it. */
export class Access {
  readonly token: string;
  readonly #digest: Buffer;

  /**
   * Takes the token.
   *
   * @param token Default: 256 random bits.
   * @throws {InputError} The token could not be sent in a header.
   */
  constructor(token: string = randomBytes(32).toString('base64url')) {
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new InputError('token: expected visible ASCII characters and nothing else');
    }
    this.token = token;
    this.#digest = digestOf(token);
  }

  /** Returns why a request is refused; `undefined`: it may come in. */
  refuse({ headers }: IncomingMessage): Refusal | undefined {
    // A web page may reach this port under a name of its own, or by a form; the browser's headers tell
    // so.
    const host = validateHostHeader(headers.host, localhostAllowedHostnames());
    if (!host.ok) return { status: 403, message: host.message };
    const origin = validateOriginHeader(headers.origin, localhostAllowedOrigins());
    if (!origin.ok) return { status: 403, message: origin.message };

    const [, given] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    if (given === undefined) return challenge('Bearer realm="forkline"', 'a token is needed');
    if (this.#knows(given)) return undefined;
    return challenge('Bearer realm="forkline", error="invalid_token"', 'the token is wrong');
  }

  /** Compares in the same time, however much of the token is right. */
  #knows(given: string): boolean {
    return timingSafeEqual(digestOf(given), this.#digest);
  }
}

/** Returns a digest: all have one length, as the comparison needs. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function challenge(scheme: string, what: string): Refusal {
  const message = `Unauthorized: ${what}`;
  return { status: 401, message, headers: { 'WWW-Authenticate': scheme } };
}
