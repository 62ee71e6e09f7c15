import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { InputError } from '../index.js';

/** Why a request is turned away before anybody looks at what it says. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the error says beside its message. */
  readonly data?: unknown;
  /** The request that it answers, where that is known. */
  readonly id?: string | number | null;
}

/** Who may talk to the server: local programs that know the token. */
export class Access {
  readonly token: string;
  readonly #digest: Buffer;

  /**
   * @param token Default: 256 random bits.
   * @throws {InputError} It could not be sent in a header.
   */
  constructor(token: string = randomBytes(32).toString('base64url')) {
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new InputError('token: expected visible ASCII characters and nothing else');
    }
    this.token = token;
    this.#digest = digestOf(token);
  }

  /** Undefined: it may come in. */
  refuse({ headers }: IncomingMessage): Refusal | undefined {
    // A web page may reach this port under a name of its own, or by a form. Its browser says so.
    const host = validateHostHeader(headers.host, localhostAllowedHostnames());
    if (!host.ok) return { status: 403, message: host.message };
    const origin = validateOriginHeader(headers.origin, localhostAllowedOrigins());
    if (!origin.ok) return { status: 403, message: origin.message };

    const [, given] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    if (given === undefined) return challenge('Bearer realm="forkline"', 'a token is needed');
    if (this.#knows(given)) return undefined;
    return challenge('Bearer realm="forkline", error="invalid_token"', 'the token is wrong');
  }

  /** Takes as long however much of it is right. */
  #knows(given: string): boolean {
    return timingSafeEqual(digestOf(given), this.#digest);
  }
}

/** A digest has one length whatever the token's, as the comparison needs. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function challenge(scheme: string, what: string): Refusal {
  const message = `Unauthorized: ${what}`;
  return { status: 401, message, headers: { 'WWW-Authenticate': scheme } };
}
