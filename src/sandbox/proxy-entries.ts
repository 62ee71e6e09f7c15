import { SERVER } from '../engine/channel.js';
import { PROXY_PORT } from './defaults.js';
import type { SandboxPolicy } from './policy.js';

/**
 * Makes the entries of a plan for the proxy, which its server reads. Each JavaScript environment has its
 * own sandboxes: no other one knows its secrets, and a proxy ends with its environment.
 */
export function proxyEntries({ network, secrets = {} }: SandboxPolicy): readonly string[] {
  const { allowedDomains, deniedDomains = [] } =
    typeof network === 'object' ? network : { allowedDomains: [] };
  const theirs = Object.values(secrets).flatMap(({ domains }) => domains);
  return [
    `proxy\0${PROXY_PORT}\0`,
    `server\0${SERVER}\0`,
    ...[...allowedDomains, ...theirs].map((domain) => `domain\0${domain}\0`),
    ...deniedDomains.map((domain) => `no-domain\0${domain}\0`),
  ];
}
