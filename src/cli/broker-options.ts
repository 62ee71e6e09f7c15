import { Option } from 'commander';
import type { BrokerOptions } from '../fleet/index.js';

/** Flags for reaching a broker. */
export interface BrokerFlags {
  readonly pool?: string | undefined;
  readonly creds?: string | undefined;
  readonly nkey?: string | undefined;
  readonly tlsCa?: string | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
}

/** The names of those flags. */
export const BROKER_FLAGS: readonly (keyof BrokerFlags)[] = [
  'pool',
  'creds',
  'nkey',
  'tlsCa',
  'tlsCert',
  'tlsKey',
];

/** Secrets come from variables: all users can read arguments. */
const SECRETS = {
  token: 'FORKLINE_NATS_TOKEN',
  user: 'FORKLINE_NATS_USER',
  password: 'FORKLINE_NATS_PASSWORD',
} as const;

/** Returns the options of commands that use a broker. */
export function brokerOptions(): Option[] {
  return [
    new Option('--pool <name>', 'the name of workers and clients that belong together'),
    new Option('--creds <file>', 'credentials for the broker, as nsc writes them'),
    new Option('--nkey <file>', 'the seed of a key pair for the broker, as nk prints it'),
    new Option('--tls-ca <file>', "authorities for the broker's certificate"),
    new Option('--tls-cert <file>', 'a certificate of this side, for the broker'),
    new Option('--tls-key <file>', 'its key'),
  ];
}

/**
 * Returns the broker that the flags name. Secrets are taken from the environment and removed from it,
 * so that commands do not inherit them.
 */
export function brokerOf(servers: string, flags: BrokerFlags): BrokerOptions {
  const secrets: { -readonly [Name in keyof typeof SECRETS]?: string | undefined } = {};
  for (const name of ['token', 'user', 'password'] as const) {
    secrets[name] = process.env[SECRETS[name]];
    delete process.env[SECRETS[name]];
  }
  const { creds, nkey, tlsCa: ca, tlsCert: cert, tlsKey: key } = flags;
  const hasTls = ca !== undefined || cert !== undefined || key !== undefined;
  return {
    servers: servers.split(','),
    creds,
    nkey,
    ...secrets,
    ...(hasTls && { tls: { ca, cert, key } }),
  };
}
