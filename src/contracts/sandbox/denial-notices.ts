import type { FirstRun } from '../../engine/outcome.js';
import type { Denial, SandboxPort, SandboxReport, Signature } from '../../engine/sandbox-report.js';
import { heldNotice } from '../../receipt/held-notice.js';
import { visibleText } from '../../support/text.js';
import { changeNotices } from './change-notices.js';
import { describeDeniedProgram, shownTarget } from './program-notices.js';

const SHOWN_DENIALS = 5;

/**
 * Describes what a command has changed, where that can be taken back, what its sandbox has held back, and what it has
 * denied, why, and what can be done instead, in one line each. Empty: there is nothing to tell.
 */
export function sandboxNotices(report: SandboxReport): readonly string[] {
  const { denials, unseen, renewed, ports = [] } = report;
  const held = heldNotice(report);
  // A program that is denied is often tried again.
  const told = [...new Set(denials.map((denial) => describe(denial, report)))];
  const shown = told.slice(0, SHOWN_DENIALS);
  const more = told.length - shown.length;
  return [
    ...(renewed ? renewedNotice(report) : []),
    ...(held === undefined ? [] : [held]),
    ...shown,
    ...signedNotices(report),
    ...(more > 0 ? [`The sandbox has denied ${more} more.`] : []),
    ...ports.flatMap((port) => refusedPortNotice(port) ?? []),
    ...changeNotices(report),
    ...(unseen ?? []).map((why) => `Not all denials of the sandbox are known: ${why}.`),
  ];
}

/** Says what the user's agents have signed for the command. */
function signedNotices({ signatures = [] }: SandboxReport): string[] {
  const shown = signatures.slice(0, SHOWN_DENIALS).map(describeSignature);
  const more = signatures.length - shown.length;
  return more > 0 ? [...shown, `The user's agents have signed ${more} times more.`] : shown;
}

function describeSignature({ agent, key, purpose, target }: Signature): string {
  const what = { login: 'a login as', git: 'a message for git', hash: 'the hash' }[purpose];
  const whole = target === '' ? what : `${what} ${visibleText(target)}`;
  return `The user's ${agent} agent has signed ${whole} with the key ${visibleText(key)}.`;
}

/** Says what a new sandbox has lost; nothing, where all that commands leave behind is outside of it. */
function renewedNotice({ enforced }: SandboxReport): string[] {
  const lost = [
    ...(enforced.tmp === 'namespace' ? ['its /tmp is empty'] : []),
    ...(enforced.processes === 'namespace' ? ['its processes are out of reach'] : []),
  ];
  return lost.length === 0 ? [] : [`The sandbox was made anew: ${lost.join(', and ')}.`];
}

/** Says that a port is not published, and what can be done; undefined: it is. */
function refusedPortNotice(port: SandboxPort): string | undefined {
  if (port.url !== undefined) return undefined;
  const { inside, refused } = port;
  return `Port ${inside} is not reached from outside the sandbox: ${WHY_REFUSED[refused]}`;
}

const WHY_REFUSED: Readonly<Record<'dangerous' | 'full' | 'failed', string>> = {
  dangerous:
    'whoever connects to such a port could run programs. Use another port, or ask the user.',
  full: '64 of its ports are. End servers that are not needed.',
  failed: 'the machine had no port, or no descriptors, left for it.',
};

/** Says that a command was run again with more rights, and what its first run has left. */
export function firstRunNotice({ denials, background }: FirstRun): string {
  const shown = denials.slice(0, SHOWN_DENIALS);
  const what = shown.map((denial) => `${denial.kind} ${shownTarget(denial)}`).join(', ');
  const more = denials.length > shown.length ? ', …' : '';
  const left = background.length === 0 ? '' : `, and ${background.length} of its processes run`;
  return (
    `The command was run twice: the sandbox denied the first run (${what}${more}), then the user allowed more. ` +
    `The effects of the first run remain${left}.`
  );
}

/** The notice when a process listens in a sandbox with a loopback of its own. */
export const OWN_LOOPBACK =
  "Its loopback is the sandbox's own: a server in it is reached only from inside.";

/** Returns whether a sandbox has a loopback of its own. */
export function hasOwnLoopback({ enforced }: SandboxReport): boolean {
  return enforced.network === 'namespace' || enforced.network === 'proxy';
}

function describe(denial: Denial, report: SandboxReport): string {
  const { kind, rule } = denial;
  if (rule === 'exec') return describeDeniedProgram(denial);
  // Another version's far side, or its record of a detached command, may have a rule that is not known here.
  const advice = Object.hasOwn(ADVICE, rule) ? ADVICE[rule] : ADVICE.network;
  return `The sandbox denied: ${kind} ${shownTarget(denial)} (${rule}). ${advice(denial, report)}`;
}

/** What a command can do instead, by the rule of the denial. */
const ADVICE: {
  readonly [Rule in Exclude<Denial['rule'], 'exec'>]: (
    denial: Denial,
    report: SandboxReport,
  ) => string;
} = {
  allowWrite: (_, report) => `Write to ${placesOf(report).join(' or ')} instead.`,
  denyWrite: ({ target }, report) => keptAdvice(target, report),
  denyRead: () => 'Do without it, or ask the user.',
  tmp: () => "/tmp is the sandbox's own: keep files in the working directory.",
  network: (_, report) =>
    `${hasOwnLoopback(report) ? NO_NETWORK_OUTSIDE : NO_NETWORK}: do without it, or ask the user.`,
  allowedDomains: () => 'Do without it, or ask the user to allow that host.',
  deniedDomains: () => 'Do without it, or ask the user.',
  secrets: () =>
    'Commands use a secret for that host, so they reach it only by TLS that the sandbox ends: use a ' +
    'program that reads SSL_CERT_FILE or the like.',
  allowUnixSockets: () => 'Start one in the sandbox, or ask the user to allow that socket.',
  sshAgent: (denial) => agentAdvice(denial),
  gpgAgent: (denial) => agentAdvice(denial),
  socketFamilies: () => 'Only sockets of the internet and of Unix can be made.',
};

const NO_NETWORK = 'There is no network';
const NO_NETWORK_OUTSIDE = "There is no network but the sandbox's own loopback";

/** Advice for a request to an agent of the user. A next command has signatures of its own. */
function agentAdvice({ target }: Denial): string {
  if (target.endsWith(' for this command')) return 'Do the next step in a command of its own.';
  return 'Do without it, or ask the user.';
}

/** The directories that can be written to; the last is `/tmp`, with a remark if it is the sandbox's own. */
function placesOf({ writable, enforced }: SandboxReport): readonly string[] {
  const isOwn = enforced.tmp === 'namespace';
  return [...new Set([...writable, isOwn ? "/tmp (the sandbox's own)" : '/tmp'])];
}

/** Advice for a file that is kept. If git was to replace it, the old content must not be committed. */
function keptAdvice(target: string, { incomplete = [] }: SandboxReport): string {
  const isLeft = incomplete.some(({ repository, path }) => {
    const kept = `${repository}/${path}`;
    return target === kept || target.startsWith(`${kept}/`);
  });
  if (isLeft) return 'Git could not replace it: commit nothing until the user has replaced it.';
  if (/\/\.git(?:\/|$)/.test(target)) return 'Leave it as it is, or ask the user to change it.';
  return (
    'Ask the user to change it. If git tried to replace it, its work may be half done: look at ' +
    '`git status`, and commit none of that.'
  );
}
