import { Option } from 'commander';
import type { BrokerOptions } from '../fleet/index.js';

/** How a broker is reached. */
export interface BrokerFlags {
  readonly pool?: string | undefined;
  readonly creds?: string | undefined;
  readonly tlsCa?: string | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
}

/** The names of these. */
export const BROKER_FLAGS: readonly (keyof BrokerFlags)[] = [
  'pool',
  'creds',
  'tlsCa',
  'tlsCert',
  'tlsKey',
];

/** What everybody would see among the arguments. */
const SECRETS = {
  token: 'FORKLINE_NATS_TOKEN',
  user: 'FORKLINE_NATS_USER',
  password: 'FORKLINE_NATS_PASSWORD',
} as const;

/** The options of whoever goes over a broker. */
export function brokerOptions(): Option[] {
  return [
    new Option('--pool <name>', 'workers and clients that belong together'),
    new Option('--creds <file>', 'credentials for the broker, as nsc writes them'),
    new Option('--tls-ca <file>', "certificates that the broker's may come from"),
    new Option('--tls-cert <file>', 'a certificate for the broker'),
    new Option('--tls-key <file>', 'its key'),
  ];
}

/**
 * The broker that the flags name. Secrets come from the environment, and are gone from it then: they
 * are no business of commands.
 */
export function brokerOf(servers: string, flags: BrokerFlags): BrokerOptions {
  const secrets: { -readonly [Name in keyof typeof SECRETS]?: string | undefined } = {};
  for (const name of ['token', 'user', 'password'] as const) {
    secrets[name] = process.env[SECRETS[name]];
    delete process.env[SECRETS[name]];
  }
  const { creds, tlsCa: ca, tlsCert: cert, tlsKey: key } = flags;
  const hasTls = ca !== undefined || cert !== undefined || key !== undefined;
  return {
    servers: servers.split(','),
    creds,
    ...secrets,
    ...(hasTls && { tls: { ca, cert, key } }),
  };
}
