import { readFirstData } from './client-hello.js';
import { type DomainRules, denyingRule } from './domains.js';
import { canonicalHost } from './hosts.js';
import type { HandleConnection } from './http.js';
import { join, type Verdict } from './joined.js';
import type { ReportDenial } from './tunnel.js';

/** Fatal alerts of TLS (RFC 8446, 6), as the client reports them. */
const UNRECOGNIZED_NAME = Buffer.from([0x15, 0x03, 0x03, 0, 2, 2, 112]);
const DECODE_ERROR = Buffer.from([0x15, 0x03, 0x03, 0, 2, 2, 50]);

/** Other characters are in no host name: servers may not map them as the proxy would. */
const ASCII = /^[\x21-\x7e]+$/;

/**
 * Joins a client with a host that is allowed, unless its TLS asks for a host that is not: a server for
 * many names, such as a CDN's, would serve that one too.
 */
export function joiningAllowed(rules: DomainRules, reportDenial: ReportDenial): HandleConnection {
  const judge = (said: Buffer): Verdict => {
    const beginning = readFirstData(said);
    if (beginning.kind === 'more') return 'undecided';
    if (beginning.kind === 'broken') return { answer: DECODE_ERROR };
    if (beginning.kind === 'other') return 'passes';
    for (const name of beginning.names) {
      const host = ASCII.test(name) ? canonicalHost(name) : undefined;
      const rule = host === undefined ? 'allowedDomains' : denyingRule(host, rules);
      if (rule === undefined) continue;
      reportDenial(host ?? readable(name), rule);
      return { answer: UNRECOGNIZED_NAME };
    }
    return 'passes';
  };
  return (client, upstream) => join(client, upstream, judge);
}

/** Makes an invalid host name printable. */
function readable(name: string): string {
  return name.replace(/[^\x21-\x7e]/g, '?');
}
