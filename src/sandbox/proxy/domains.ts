import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { canonicalHost, innerAddress } from './hosts.js';

/** The hosts that commands may connect to, by name. */
export interface DomainRules {
  /** `example.com`, `*.example.com` (its subdomains), or an address. */
  readonly allowedDomains: readonly string[];
  /** Exceptions from `allowedDomains`. */
  readonly deniedDomains: readonly string[];
}

/** The field of a policy by which a host is denied. */
export type DenyingRule = 'allowedDomains' | 'deniedDomains' | 'secrets';

/** The result of resolving a host. */
type ResolvedHost =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** The name cannot be resolved. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'denied'; readonly rule: DenyingRule };

/**
 * Addresses of the host itself, and of the machine's provider: reachable only by an address, or
 * `localhost`, as the rule.
 */
const OWN = new BlockList();
OWN.addSubnet('127.0.0.0', 8);
OWN.addSubnet('169.254.0.0', 16);
OWN.addSubnet('0.0.0.0', 8);
OWN.addAddress('::1', 'ipv6');
OWN.addAddress('::', 'ipv6');
OWN.addSubnet('fe80::', 10, 'ipv6');
// Other addresses of cloud metadata services: AWS, Alibaba, Azure, Oracle.
OWN.addAddress('fd00:ec2::254', 'ipv6');
OWN.addAddress('100.100.100.200');
OWN.addAddress('168.63.129.16');
OWN.addAddress('192.0.0.192');

/** Addresses of the host's private network: not reachable by a rule with `*`. */
const NEAR = new BlockList();
NEAR.addSubnet('10.0.0.0', 8);
NEAR.addSubnet('172.16.0.0', 12);
NEAR.addSubnet('192.168.0.0', 16);
NEAR.addSubnet('100.64.0.0', 10);
NEAR.addSubnet('fc00::', 7, 'ipv6');
NEAR.addSubnet('fec0::', 10, 'ipv6');

/**
 * Returns the field by which a host of this name is denied, whatever its address is; undefined: it is
 * allowed.
 */
export function denyingRule(
  host: string,
  { allowedDomains, deniedDomains }: DomainRules,
): DenyingRule | undefined {
  if (findRule(host, allowedDomains) === undefined) return 'allowedDomains';
  return findRule(host, deniedDomains) === undefined ? undefined : 'deniedDomains';
}

/**
 * Resolves a host once to the addresses to connect to. The owner of a name must not be able to lead to
 * the host, or its private network; and denied addresses stay denied.
 *
 * @param host As {@link canonicalHost} spells it.
 * @param ask Resolves a name.
 */
export async function locate(
  host: string,
  rules: DomainRules,
  ask: (host: string) => Promise<readonly string[]> = lookUp,
): Promise<ResolvedHost> {
  const denied = denyingRule(host, rules);
  if (denied !== undefined) return { kind: 'denied', rule: denied };
  const rule = findRule(host, rules.allowedDomains) ?? '';
  const found = isIP(host) > 0 ? [host] : await ask(host).catch(() => []);
  if (found.length === 0) return { kind: 'unknown' };
  const reached = found.filter((address) => mayBeBehind(address, rule));
  if (reached.length === 0) return { kind: 'denied', rule: 'allowedDomains' };
  const addresses = reached.filter(
    (address) => findRule(address, rules.deniedDomains) === undefined,
  );
  if (addresses.length === 0) return { kind: 'denied', rule: 'deniedDomains' };
  return { kind: 'found', addresses };
}

async function lookUp(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}

function mayBeBehind(address: string, rule: string): boolean {
  const plain = innerAddress(address) ?? address;
  if (isAmong(OWN, plain) || isOfHost(plain)) {
    return isIP(canonicalHost(rule) ?? '') > 0 || rule.toLowerCase() === 'localhost';
  }
  return !rule.startsWith('*') || !isAmong(NEAR, plain);
}

function isAmong(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** A server on all addresses of the host is not meant for commands from within. */
function isOfHost(address: string): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((one) => canonicalHost(one.address) === address),
  );
}

/** Returns the rule that matches a name. */
export function findRule(host: string, rules: readonly string[]): string | undefined {
  const name = canonicalHost(host);
  if (name === undefined) return undefined;
  return rules.find((rule) =>
    rule.startsWith('*.')
      ? isIP(name) === 0 && name.endsWith(rule.slice(1).toLowerCase())
      : name === canonicalHost(rule),
  );
}
