import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';

/** Where systems have whom they trust, in one file. */
const BUNDLES: readonly string[] = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Whom programs of the host trust, as PEM: the system's, or in its place what `SSL_CERT_FILE` names. */
export function hostRoots(): string {
  const { SSL_CERT_FILE: named } = process.env;
  const found = [...(named ? [named] : []), ...BUNDLES].map(read).find((text) => text !== '');
  return `${found ?? rootCertificates.join('\n')}\n${addedRoots()}`;
}

/** Whom they trust besides. */
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
