import { isIP } from 'node:net';

/** Characters that are in no host name: some parsers would end the name at them, or begin it anew. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among them.
const FOREIGN = /[\x00-\x20\x7f@/\\?#%<>^|]/;

/**
 * Returns the canonical spelling of a host: lower case without a final dot, names in other scripts by
 * `xn--`, addresses in their usual form (`127.1`, `0x7f000001`, `2130706433` and `::ffff:127.0.0.1` are
 * `127.0.0.1`). Returns undefined for text that is no host.
 */
export function canonicalHost(host: string): string | undefined {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const text = `http://${bare.includes(':') ? `[${bare}]` : bare}/`;
  if (bare === '' || FOREIGN.test(bare) || !URL.canParse(text)) return undefined;
  const { hostname } = new URL(text);
  const name = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return name === '' ? undefined : (mappedAddress(name) ?? name);
}

/** Formats a host for a request's header: an IPv6 address in brackets, no default port. */
export function authorityOf(host: string, port: number, implied: number): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return port === implied ? name : `${name}:${port}`;
}

/** The target of a request within a connection to one host. */
type RequestTarget =
  | { readonly kind: 'path'; readonly path: string }
  /** Another host, port or scheme, or no URL at all; `host`: the other host, if one is named. */
  | { readonly kind: 'elsewhere'; readonly host?: string | undefined };

/**
 * Reads the target of a request by https to a host: a path (origin form), or a URL (absolute form) of
 * exactly this host and port without a user, which is converted to a path. Paths are not interpreted:
 * `//other/` is one.
 */
export function targetAt(
  host: string,
  port: number,
  implied: number,
  target: string,
): RequestTarget {
  if (target.startsWith('/')) return { kind: 'path', path: target };
  const [, scheme, authority = target, path = ''] =
    /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)([^#]*)/i.exec(target) ?? [];
  const [, name = '', given] = /^(\[[^\]]*\]|[^:]*)(?::(\d{0,5}))?$/.exec(authority) ?? [];
  const isHere = canonicalHost(name) === host && Number(given || implied) === port;
  if (scheme?.toLowerCase() === 'https' && isHere) {
    return { kind: 'path', path: path.startsWith('/') ? path : `/${path}` };
  }
  const [named = ''] = /[^@\\]*$/.exec(authority) ?? [];
  const other = canonicalHost(named.replace(/:\d*$/, ''));
  const isOther = other !== host && target !== '*';
  return { kind: 'elsewhere', host: isOther ? other : undefined };
}

/** Returns the IPv4 address in an IPv4-mapped IPv6 address. */
function mappedAddress(name: string): string | undefined {
  return lastAddress(name, /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/);
}

/** Returns the IPv4 address that an IPv6 address leads to: by itself, or by a translator (NAT64). */
export function innerAddress(address: string): string | undefined {
  const name = isIP(address) === 6 ? canonicalHost(address) : undefined;
  if (name === undefined || isIP(name) === 4) return name;
  return lastAddress(name, /^64:ff9b::(?:([\da-f]{1,4}):)?([\da-f]{1,4})$/);
}

function lastAddress(name: string, form: RegExp): string | undefined {
  const found = form.exec(name);
  if (found === null) return undefined;
  const [high, low] = [found[1] ?? '0', found[2] ?? '0'].map((group) => Number.parseInt(group, 16));
  const bits = [high ?? 0, low ?? 0].flatMap((group) => [group >> 8, group & 0xff]);
  return bits.join('.');
}
