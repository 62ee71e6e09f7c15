import { SERVER } from '../engine/channel.js';
import { PROXY_PORT } from './defaults.js';
import type { SandboxPolicy } from './policy.js';

/**
 * Makes the entry that names the JavaScript environment which serves a sandbox. Each has its own sandboxes: no
 * other one knows its secrets and answers for it, and a proxy ends with its environment.
 */
export function serverEntry(): string {
  return `server\0${SERVER}\0`;
}

/** Makes the entries of a plan for the proxy, which its server reads. */
export function proxyEntries({ network, secrets = {} }: SandboxPolicy): readonly string[] {
  const { allowedDomains, deniedDomains = [] } =
    typeof network === 'object' ? network : { allowedDomains: [] };
  const theirs = Object.values(secrets).flatMap(({ domains }) => domains);
  return [
    `proxy\0${PROXY_PORT}\0`,
    ...[...allowedDomains, ...theirs].map((domain) => `domain\0${domain}\0`),
    ...deniedDomains.map((domain) => `no-domain\0${domain}\0`),
  ];
}
