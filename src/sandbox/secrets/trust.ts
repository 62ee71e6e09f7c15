import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LaunchError } from '../../engine/launch-error.js';
import { ERRNO } from '../../engine/system-error.js';
import { isAbandoned, removeBeside } from '../../support/directories/abandoned.js';
import { makeUserDirectorySync } from '../../support/directories/private-directory.js';
import { messageOf } from '../../support/errors.js';
import { addedRoots, hostRoots } from './roots.js';

const PREFIX = 'trust-';
const DAY_MS = 24 * 60 * 60 * 1000;

/** Variables that name trusted certificates instead of all others. */
const IN_PLACE: readonly string[] = [
  'SSL_CERT_FILE',
  'NIX_SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'GIT_SSL_CAINFO',
  'npm_config_cafile',
  'CARGO_HTTP_CAINFO',
  'AWS_CA_BUNDLE',
  'CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE',
  'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
  'HEX_CACERTS_PATH',
  'BUNDLE_SSL_CA_CERT',
  'HTTPLIB2_CA_CERTS',
];
/** Variables that name trusted certificates in addition. */
const BESIDES: readonly string[] = ['NODE_EXTRA_CA_CERTS', 'DENO_CERT'];

const made = new Set<string>();

/** The directory of certificates, and the variables by which programs find them. */
interface TrustFiles {
  readonly directory: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Makes programs trust a certificate besides all that the host trusts: by files, and variables that name
 * them.
 *
 * @throws {LaunchError} The temporary directory is not writable.
 */
export function trustIn(certificate: string): TrustFiles {
  try {
    return write(certificate);
  } catch (error) {
    const code = error instanceof Error && 'errno' in error ? Number(error.errno) : 0;
    const message = `cannot write the certificates for sandbox.secrets: ${messageOf(error)}`;
    const errno = Math.abs(code) || ERRNO.ENOENT;
    throw new LaunchError({ step: 'sandbox', errno, subject: 'certificates', message });
  }
}

function write(certificate: string): TrustFiles {
  const home = makeUserDirectorySync();
  const directory = mkdtempSync(join(home, `${PREFIX}${process.pid}-`));
  if (made.size === 0) process.once('exit', removeAll);
  made.add(directory);
  removeBeside(home, PREFIX, (name) => isAbandoned(home, name, PREFIX, DAY_MS));
  const all = join(directory, 'all.pem');
  const added = join(directory, 'added.pem');
  writeFileSync(all, hostRoots() + certificate, { mode: 0o600, flag: 'wx' });
  writeFileSync(added, addedRoots() + certificate, { mode: 0o600, flag: 'wx' });
  const named = (names: readonly string[], path: string) => names.map((name) => [name, path]);
  return {
    directory,
    variables: Object.fromEntries([...named(IN_PLACE, all), ...named(BESIDES, added)]),
  };
}

function removeAll(): void {
  for (const directory of made) {
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // A later host removes it.
    }
  }
}
