import { serveSandboxesBy } from '../../engine/channel.js';
import type { DomainRules } from './proxy/domains.js';
import type { DeniedHost } from './proxy/index.js';

let proxy: typeof import('./proxy/index.js') | undefined;

/** Sees to it that sandboxes reach what they may of the network. */
export function serveSandboxes(): void {
  serveSandboxesBy(async (descriptor, plan) => {
    // Loaded only here: few have a use for it.
    proxy ??= await import('./proxy/index.js');
    proxy.serveSandbox(plan, descriptor, rulesIn(plan));
  });
}

/** The hosts that those in a sandbox were denied since then. */
export function deniedHostsOf(plan: string, since: number): readonly DeniedHost[] {
  return proxy?.deniedHosts(plan, since) ?? [];
}

function rulesIn(plan: string): DomainRules {
  const fields = plan.split('\0');
  const valuesOf = (word: string): string[] =>
    fields.filter((_, index) => index % 2 === 1 && fields[index - 1] === word);
  return { allowedDomains: valuesOf('domain'), deniedDomains: valuesOf('no-domain') };
}
