import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** To whom commands may connect, by name. */
export interface DomainRules {
  /** `example.com`, `*.example.com` (what is below it), or an address. */
  readonly allowedDomains: readonly string[];
  /** Of those, not these. */
  readonly deniedDomains: readonly string[];
}

/** Of the host itself, or of whoever runs the machine: behind no name but by its own. */
const OWN = new BlockList();
OWN.addSubnet('127.0.0.0', 8);
OWN.addSubnet('169.254.0.0', 16);
OWN.addSubnet('0.0.0.0', 8);
OWN.addAddress('::1', 'ipv6');
OWN.addAddress('::', 'ipv6');
OWN.addSubnet('fe80::', 10, 'ipv6');

/** Of the network that the host is in: by a name that is listed as it is. */
const NEAR = new BlockList();
NEAR.addSubnet('10.0.0.0', 8);
NEAR.addSubnet('172.16.0.0', 12);
NEAR.addSubnet('192.168.0.0', 16);
NEAR.addSubnet('100.64.0.0', 10);
NEAR.addSubnet('fc00::', 7, 'ipv6');

/** Whether commands may connect to a host of this name, whatever its address is. */
export function isAllowed(host: string, { allowedDomains, deniedDomains }: DomainRules): boolean {
  return (
    findRule(host, allowedDomains) !== undefined && findRule(host, deniedDomains) === undefined
  );
}

/**
 * The address to connect to; undefined: it is not allowed, or has none that may be behind its name. Who
 * can say what a name stands for must not reach the host, or its neighbours, by it.
 */
export async function findAddress(host: string, rules: DomainRules): Promise<string | undefined> {
  const rule = isAllowed(host, rules) ? findRule(host, rules.allowedDomains) : undefined;
  if (rule === undefined) return undefined;
  const found = await lookup(host, { all: true }).catch(() => []);
  const isExact = !rule.startsWith('*');
  const isOwn = isIP(rule) > 0 || rule === 'localhost';
  const fits = (address: string): boolean => {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (OWN.check(address, family)) return isOwn;
    return isExact || !NEAR.check(address, family);
  };
  return found.map(({ address }) => address).find(fits);
}

/** The one that is meant by a name. */
function findRule(host: string, rules: readonly string[]): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, '');
  return rules.find((rule) => {
    const wanted = rule.toLowerCase();
    return wanted.startsWith('*.') ? name.endsWith(wanted.slice(1)) : name === wanted;
  });
}
