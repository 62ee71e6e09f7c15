import type { Denial, Signature } from '../sandbox-report.js';

/** What the keeper says of one request to an agent of the user. */
type AgentNews = { readonly signature: Signature } | { readonly denial: Denial };

/**
 * Parses what a sandbox's broker has told: `signed=ssh,0,1700000000000,git,SHA256%3A…,comment,target`, or
 * `refused=ssh,limit,detail`. Undefined: the name is another one.
 */
export function toAgentNews(name: string, value: string): AgentNews | undefined {
  if (name !== 'signed' && name !== 'refused') return undefined;
  const [which = '', ...fields] = value.split(',').map(decodeURIComponent);
  const agent = which === 'gpg' ? 'gpg' : 'ssh';
  if (name === 'signed') {
    const [, at = '', kind = '', key = '', comment = '', target = ''] = fields;
    return {
      signature: {
        agent,
        key,
        comment,
        purpose: kind === 'git' || kind === 'login' ? kind : 'hash',
        target,
        at: Number(at),
      },
    };
  }
  const [reason = '', detail = ''] = fields;
  const rule = agent === 'gpg' ? 'gpgAgent' : 'sshAgent';
  const target = `${agent}: ${REFUSED[reason]?.(detail) ?? reason}`;
  return { denial: { kind: 'sign', target, rule, source: 'broker' } };
}

/** What was asked for, by the word that the keeper has for it. */
const REFUSED: Readonly<Record<string, (detail: string) => string>> = {
  limit: () => 'one more signature for this command',
  full: () => 'one more connection: this command has 16, or all commands have 256',
  'no-agent': () => 'anything, since no agent of the user answers',
  forwarded: () => 'a signature for another machine, by a forwarded agent',
  request: (detail) => `request ${detail}, which is not for a signature`,
  malformed: () => 'a malformed request',
  key: (key) => `a signature with the key ${key}, which the policy does not name`,
  namespace: (name) => `a signature of a message for '${name}', and not for git`,
  data: () => 'a signature of data that is no login and no message of git',
  unbound: () => 'a login at a server that is not named',
  unverified: () => 'a login at a server that the agent does not verify',
  session: (host) => `a login at another server than ${host}`,
  'revoked-host': (host) => `a login at ${host}, whose key is revoked`,
  'unknown-host': (host) => `a login at ${host}, which is not in known_hosts`,
};
