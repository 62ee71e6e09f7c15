import { Authority, type Identity } from './authority.js';
import type { SandboxSecret } from './secret.js';
import { standInFor } from './stand-in.js';
import { trustIn } from './trust.js';

/** One secret, and its stand-in for commands. */
export interface KeptSecret {
  readonly name: string;
  readonly value: string;
  readonly standIn: string;
  readonly domains: readonly string[];
  readonly body: boolean;
}

/** The secrets of a policy, as long as the host lives. */
export interface KeptSecrets {
  /** Longer values first, since one may contain another. */
  readonly all: readonly KeptSecret[];
  /** The variables that commands get in their environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** The directory of the certificates that commands are to trust. */
  readonly directory: string;
  /** Returns the key and certificate for a server of this name. */
  readonly certify: (host: string) => Identity;
}

type GivenSecrets = Readonly<Record<string, SandboxSecret>>;

const known = new Map<string, KeptSecrets>();
/** The most sets that are kept: secrets change, a token may live for an hour. */
const MOST_KNOWN = 64;

/**
 * Returns the stand-ins and certificates for these secrets: the same for all policies with the same
 * secrets.
 *
 * @throws {LaunchError} The temporary directory is not writable.
 */
export function keptSecrets(given: GivenSecrets): KeptSecrets {
  const key = JSON.stringify(
    Object.entries(given).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
  const last = known.get(key) ?? make(given);
  known.delete(key);
  known.set(key, last);
  const [oldest] = known.keys();
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  return last;
}

function make(given: GivenSecrets): KeptSecrets {
  const secrets = Object.entries(given).map(([name, { value, domains, body }]) => {
    const standIn = standInFor(value);
    return { name, value, standIn, domains: [...domains], body: body ?? false };
  });
  const authority = new Authority();
  const { directory, variables } = trustIn(authority.certificate);
  const named = Object.fromEntries(secrets.map(({ name, standIn }) => [name, standIn]));
  return {
    all: secrets.sort((one, other) => other.value.length - one.value.length),
    variables: { ...variables, ...named },
    directory,
    certify: (host) => authority.certify(host),
  };
}
