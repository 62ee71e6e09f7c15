import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { type CertificateHolder, makeCertificate } from './certificate.js';

const NAME = 'forkline sandbox, of this run alone';
const DAY_MS = 24 * 60 * 60 * 1000;
const LIFE_MS = 365 * DAY_MS;
/** The most certificates that are kept. */
const MOST_KEPT = 256;
/** The longest name in a certificate. */
const LONGEST_NAME = 64;

/** A key, and its certificate. As PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** A key pair, and its id. */
interface KeyPair {
  readonly secret: KeyObject;
  readonly open: Buffer;
  readonly id: Buffer;
}

/**
 * Signs certificates for servers, for clients that trust this authority. Its key is only in the memory of
 * the host.
 */
export class Authority {
  readonly #own = makeKeys();
  /** One key for all servers: only the proxy has it. */
  readonly #servers = makeKeys();
  readonly #known = new Map<string, Identity>();
  /** The authority's own certificate, as PEM. */
  readonly certificate = this.#issue(undefined, NAME);

  /** Returns the key and certificate for a server of this name. */
  certify(host: string): Identity {
    const known = this.#known.get(host);
    if (known !== undefined) return known;
    const holder = isIP(host) > 0 ? { address: bytesOf(host) } : { name: host };
    const key = this.#servers.secret.export({ type: 'pkcs8', format: 'pem' }).toString();
    const made = { key, cert: this.#issue(holder, host.slice(0, LONGEST_NAME)) };
    if (this.#known.size >= MOST_KEPT) this.#known.clear();
    this.#known.set(host, made);
    return made;
  }

  #issue(holder: CertificateHolder | undefined, subject: string): string {
    const keys = holder === undefined ? this.#own : this.#servers;
    const serial = randomBytes(16);
    // Positive, and no byte longer than necessary.
    serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
    const now = Date.now();
    const der = makeCertificate(
      {
        ...{ subject, issuer: NAME, holder, serial },
        ...{ publicKey: keys.open, keyId: keys.id, issuerKeyId: this.#own.id },
        ...{ from: new Date(now - DAY_MS), until: new Date(now + LIFE_MS) },
      },
      (data) => sign('sha256', data, this.#own.secret),
    );
    const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
    return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  }
}

function makeKeys(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const open = publicKey.export({ type: 'spki', format: 'der' });
  return { secret: privateKey, open, id: createHash('sha1').update(open).digest() };
}

/** Converts an address to its bytes for a certificate. */
function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text = '') => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  const none = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const all = [...before, ...none, ...after].map((group) => Number.parseInt(group, 16));
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
