import { Authority, type Identity } from './authority.js';
import type { SandboxSecret } from './secret.js';
import { standInFor } from './stand-in.js';
import { trustIn } from './trust.js';

/** One secret, and what commands have in its place. */
export interface KeptSecret {
  readonly name: string;
  readonly value: string;
  readonly standIn: string;
  readonly domains: readonly string[];
  readonly body: boolean;
}

/** The secrets of a policy, for as long as the host lives. */
export interface KeptSecrets {
  /** The longer values first: one may be in another. */
  readonly all: readonly KeptSecret[];
  /** What commands get in their environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Where the certificates lie that they are to trust. */
  readonly directory: string;
  /** What a server shows that is called so. */
  readonly certify: (host: string) => Identity;
}

type Given = Readonly<Record<string, SandboxSecret>>;

const known = new Map<string, KeptSecrets>();
/** Secrets change: a token may live for an hour. */
const MOST_KNOWN = 64;

/**
 * What is kept of these secrets: the same for all policies that have the same.
 *
 * @throws {LaunchError} Where temporary files are nothing can be written.
 */
export function keptSecrets(given: Given): KeptSecrets {
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

function make(given: Given): KeptSecrets {
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
