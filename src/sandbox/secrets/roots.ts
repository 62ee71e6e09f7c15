import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';

/** The system's files of trusted certificates. */
const BUNDLES: readonly string[] = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * Returns the certificates that programs of the host trust, as PEM: the system's, or those of
 * `SSL_CERT_FILE` instead.
 */
export function hostRoots(): string {
  const { SSL_CERT_FILE: named } = process.env;
  const found = [...(named ? [named] : []), ...BUNDLES].map(read).find((text) => text !== '');
  return `${found ?? rootCertificates.join('\n')}\n${addedRoots()}`;
}

/** Returns the certificates that they trust in addition. */
export function addedRoots(): string {
  const { NODE_EXTRA_CA_CERTS: named } = process.env;
  return named ? read(named) : '';
}

function read(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    return text.includes('-----BEGIN') ? `${text.trimEnd()}\n` : '';
  } catch {
    return '';
  }
}
