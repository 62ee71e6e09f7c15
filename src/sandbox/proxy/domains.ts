import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { canonicalHost, innerAddress } from './hosts.js';

/** To whom commands may connect, by name. */
export interface DomainRules {
  /** `example.com`, `*.example.com` (what is below it), or an address. */
  readonly allowedDomains: readonly string[];
  /** Of those, not these. */
  readonly deniedDomains: readonly string[];
}

/** The field of a policy by which a host is denied. */
export type DenyingRule = 'allowedDomains' | 'deniedDomains' | 'secrets';

/** Where a host is. */
type Whereabouts =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** Nobody knows it. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'denied'; readonly rule: DenyingRule };

/** Of the host itself, or of whoever runs the machine: behind no name but by its own. */
const OWN = new BlockList();
OWN.addSubnet('127.0.0.0', 8);
OWN.addSubnet('169.254.0.0', 16);
OWN.addSubnet('0.0.0.0', 8);
OWN.addAddress('::1', 'ipv6');
OWN.addAddress('::', 'ipv6');
OWN.addSubnet('fe80::', 10, 'ipv6');
// What clouds tell their machines at other places: AWS, Alibaba, Azure, Oracle.
OWN.addAddress('fd00:ec2::254', 'ipv6');
OWN.addAddress('100.100.100.200');
OWN.addAddress('168.63.129.16');
OWN.addAddress('192.0.0.192');

/** Of the network that the host is in: by a name that is listed as it is. */
const NEAR = new BlockList();
NEAR.addSubnet('10.0.0.0', 8);
NEAR.addSubnet('172.16.0.0', 12);
NEAR.addSubnet('192.168.0.0', 16);
NEAR.addSubnet('100.64.0.0', 10);
NEAR.addSubnet('fc00::', 7, 'ipv6');
NEAR.addSubnet('fec0::', 10, 'ipv6');

/** The field by which a host of this name is denied, whatever its address is; undefined: it is allowed. */
export function denyingRule(
  host: string,
  { allowedDomains, deniedDomains }: DomainRules,
): DenyingRule | undefined {
  if (findRule(host, allowedDomains) === undefined) return 'allowedDomains';
  return findRule(host, deniedDomains) === undefined ? undefined : 'deniedDomains';
}

/**
 * Where to connect to, asked once. Who can say what a name stands for must not reach the host, or its
 * neighbours, by it; nor what is denied by its address.
 *
 * @param host As {@link canonicalHost} spells it.
 * @param ask Where a name leads.
 */
export async function locate(
  host: string,
  rules: DomainRules,
  ask: (host: string) => Promise<readonly string[]> = lookUp,
): Promise<Whereabouts> {
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

/** Who listens on all of its addresses did not mean commands that reach it from within. */
function isOfHost(address: string): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((one) => canonicalHost(one.address) === address),
  );
}

/** The one that is meant by a name. */
export function findRule(host: string, rules: readonly string[]): string | undefined {
  const name = canonicalHost(host);
  if (name === undefined) return undefined;
  return rules.find((rule) =>
    rule.startsWith('*.')
      ? isIP(name) === 0 && name.endsWith(rule.slice(1).toLowerCase())
      : name === canonicalHost(rule),
  );
}
