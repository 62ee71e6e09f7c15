import { closeSync, writeSync } from 'node:fs';
import { serveSandboxesBy } from '../engine/channel.js';
import { lateLibrary, OPEN_ONE_BY_ONE } from '../engine/late-library.js';
import { messageOf } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import type { DomainRules } from './proxy/domains.js';
import type { DeniedHost } from './proxy/index.js';
import type { KeptSecrets } from './secrets/kept.js';

/** Few have a use for it. */
const loadProxy = lateLibrary(
  "the sandbox's proxy",
  () => import('./proxy/index.js'),
  OPEN_ONE_BY_ONE,
);

let proxy: typeof import('./proxy/index.js') | undefined;

/** By plan. It has none of it itself: whoever has the plan has no secret. */
const secretsOf = new Map<string, KeptSecrets>();
const MOST_PLANS = 64;

/** Sees to it that a sandbox of this plan reaches what it may of the network, with these secrets. */
export function serveSandboxes(of: string, secrets: KeptSecrets | undefined): void {
  if (secrets !== undefined) {
    secretsOf.delete(of);
    secretsOf.set(of, secrets);
    const [oldest] = secretsOf.keys();
    if (secretsOf.size > MOST_PLANS && oldest !== undefined) secretsOf.delete(oldest);
  }
  serveSandboxesBy({ serve, leave });
}

/** How those that are served are left, by their numbers. */
const served = new Map<number, Promise<() => void>>();

function serve(id: number, descriptor: number, answer: number, plan: string): void {
  const begun = loadProxy().then((loaded) => {
    proxy = loaded;
    const told = (denied: DeniedHost): void => tellDenied(plan, denied);
    return loaded.serveSandbox(plan, descriptor, rulesIn(plan), secretsOf.get(plan), told);
  });
  served.set(
    id,
    begun.then(
      (stop) => {
        tellServed(answer);
        return stop;
      },
      (error: unknown) => {
        // Who waits there for an answer would wait without end.
        closeSync(descriptor);
        // It is refused, and the next command's is made anew.
        closeSync(answer);
        warnHost(`The proxy of a sandbox can't be served: ${messageOf(error)}`);
        return () => {};
      },
    ),
  );
}

function tellServed(answer: number): void {
  try {
    writeSync(answer, '1');
  } catch {
    // Nobody is there any more.
  } finally {
    closeSync(answer);
  }
}

function leave(id: number): void {
  const stop = served.get(id);
  served.delete(id);
  stop?.then((close) => close());
}

/** Who is told of the hosts that those in sandboxes of a plan are denied. */
const listeners = new Map<string, Set<(denied: DeniedHost) => void>>();

/**
 * Has somebody told of each host that those in sandboxes of this plan are denied, as it happens.
 *
 * @returns Stops it.
 */
export function onDeniedHost(plan: string, told: (denied: DeniedHost) => void): () => void {
  const those = listeners.get(plan) ?? new Set();
  listeners.set(plan, those.add(told));
  return () => {
    if (those.delete(told) && those.size === 0) listeners.delete(plan);
  };
}

function tellDenied(plan: string, denied: DeniedHost): void {
  for (const told of listeners.get(plan) ?? []) told(denied);
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
