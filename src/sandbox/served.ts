import { serveSandboxesBy } from '../engine/channel.js';
import { lateLibrary, OPEN_ONE_BY_ONE } from '../engine/late-library.js';
import { answerSandbox, closeSocket } from '../engine/local-stream.js';
import { messageOf } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import type { DomainRules } from './proxy/domains.js';
import type { DeniedHost } from './proxy/index.js';
import type { KeptSecrets } from './secrets/kept.js';

/** Loaded late, since few hosts need it. */
const loadProxy = lateLibrary(
  "the sandbox's proxy",
  () => import('./proxy/index.js'),
  OPEN_ONE_BY_ONE,
);

let proxy: typeof import('./proxy/index.js') | undefined;

/** Secrets by plan. The plan itself contains none: a process that reads the plan learns no secret. */
const secretsOf = new Map<string, KeptSecrets>();
const MOST_PLANS = 64;

/** Serves the sandboxes of this plan, so that they reach their allowed hosts, with these secrets. */
export function serveSandboxes(of: string, secrets: KeptSecrets | undefined): void {
  if (secrets !== undefined) {
    secretsOf.delete(of);
    secretsOf.set(of, secrets);
    const [oldest] = secretsOf.keys();
    if (secretsOf.size > MOST_PLANS && oldest !== undefined) secretsOf.delete(oldest);
  }
  serveSandboxesBy({ serve, leave });
}

/** Functions that stop serving a sandbox, by its number. */
const served = new Map<number, Promise<() => void>>();

function serve(id: number, descriptor: number, answer: number, plan: string): void {
  const loading = loadProxy().catch((error: unknown) => {
    // A process that waits there for an answer would wait without end. From here on it is the server's.
    closeSocket(descriptor);
    throw error;
  });
  const begun = loading.then((loaded) => {
    proxy = loaded;
    const told = (denied: DeniedHost): void => tellDenied(plan, denied);
    return loaded.serveSandbox(plan, descriptor, rulesIn(plan), secretsOf.get(plan), told);
  });
  served.set(
    id,
    begun.then(
      (stop) => {
        answerSandbox(answer, true);
        return stop;
      },
      (error: unknown) => {
        // The sandbox is refused, and made anew for the next command.
        answerSandbox(answer, false);
        warnHost(`The proxy of a sandbox can't be served: ${messageOf(error)}`);
        return () => {};
      },
    ),
  );
}

function leave(id: number): void {
  const stop = served.get(id);
  served.delete(id);
  stop?.then((close) => close());
}

/** Listeners to denied hosts, by plan. */
const listeners = new Map<string, Set<(denied: DeniedHost) => void>>();

/**
 * Adds a listener that is called with each host that commands in sandboxes of this plan are denied.
 *
 * @returns A function that removes it.
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

/** Returns the hosts that commands in a sandbox were denied since then. */
export function deniedHostsOf(plan: string, since: number): readonly DeniedHost[] {
  return proxy?.deniedHosts(plan, since) ?? [];
}

function rulesIn(plan: string): DomainRules {
  const fields = plan.split('\0');
  const valuesOf = (word: string): string[] =>
    fields.filter((_, index) => index % 2 === 1 && fields[index - 1] === word);
  return { allowedDomains: valuesOf('domain'), deniedDomains: valuesOf('no-domain') };
}
