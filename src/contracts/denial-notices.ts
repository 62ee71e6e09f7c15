import type { FirstRun } from '../engine/outcome.js';
import type { Denial, SandboxReport } from '../engine/sandbox-report.js';
import { visibleText } from '../support/text.js';

const SHOWN_DENIALS = 5;

/** What a sandbox has denied, a line each: what, why, and what can be done instead. */
export function denialNotices({ denials, writable, unseen }: SandboxReport): readonly string[] {
  const shown = denials.slice(0, SHOWN_DENIALS).map((denial) => describe(denial, writable));
  const more = denials.length - shown.length;
  return [
    ...shown,
    ...(more > 0 ? [`The sandbox has denied ${more} more.`] : []),
    ...(unseen ?? []).map((why) => `Not all that the sandbox has denied is known: ${why}.`),
  ];
}

/** What is said of a command that was run again with more allowed. */
export function firstRunNotice({ denials, background }: FirstRun): string {
  const shown = denials.slice(0, SHOWN_DENIALS);
  const what = shown.map(({ kind, target }) => `${kind} ${visibleText(target)}`).join(', ');
  const more = denials.length > shown.length ? ', …' : '';
  const left = background.length === 0 ? '' : `, and ${background.length} of its processes run`;
  return (
    `It was run twice: the sandbox denied the first run (${what}${more}), then the user allowed more. ` +
    `What the first run did is done${left}.`
  );
}

function describe({ kind, target, rule }: Denial, writable: readonly string[]): string {
  const what = `The sandbox denied: ${kind} ${visibleText(target)} (${rule}). `;
  switch (rule) {
    case 'allowWrite':
      return `${what}Write to ${[...writable, '/tmp'].join(' or ')} instead.`;
    case 'denyWrite':
      return `${what}Leave it as it is, or ask the user to change it.`;
    case 'denyRead':
      return `${what}Do without it, or ask the user.`;
    case 'tmp':
      return `${what}/tmp is the sandbox's own: keep files in the working directory.`;
    case 'socketFamilies':
      return `${what}Only sockets of the internet and of Unix can be made.`;
    case 'allowUnixSockets':
      return `${what}Start one in the sandbox, or ask the user to allow that socket.`;
    case 'allowedDomains':
      return `${what}Use what is here, or ask the user to allow that host.`;
    case 'secrets':
      return `${what}For its secret that host is reached by TLS alone, which the sandbox ends: use a program that takes SSL_CERT_FILE or the like.`;
    case 'deniedDomains':
      return `${what}Use what is here, or ask the user.`;
    default:
      return `${what}There is no network: use what is here, or ask the user.`;
  }
}
