import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { dirname } from 'node:path';
import type { EngineSandbox } from '../../engine/message.js';
import type { BaseResult, Capture, MergedResult, SeparateResult } from '../../engine/outcome.js';
import type { Denial, Enforcement } from '../../engine/sandbox-report.js';
import { resolveFromHome } from '../../support/directories/home.js';
import { refreshLayers } from '../caches/refresh.js';
import { isAmong, longestOf } from '../paths.js';
import { withRenewal } from '../renewal.js';
import { deniedHostsOf } from '../served.js';
import { namesIn } from './printed-names.js';

/** A host that a proxy has denied, and the policy's field. */
export interface HostDenial {
  readonly host: string;
  readonly rule: Denial['rule'];
}

const PROXY_NOT_SERVED =
  'its proxy did not run: none of the allowed hosts could be reached, and requests for hosts were not seen';

/** Limits for the lines and for the output that are examined. */
const MOST_LINES = 40;
const MOST_CHARACTERS = 256 * 1024;
const MOST_DENIALS = 10;

/** Errors of the system that a sandbox causes, as programs print them. */
const ERROR_LINE =
  /^.*(?:read-only file system|permission denied|device or resource busy|no such file or directory|network is unreachable|temporary failure in name resolution|name or service not known|could not resolve host|EAI_AGAIN|ENOTFOUND).*$/gim;

/** The facts about a sandbox that are known after it has ended. */
export type SandboxBounds = Omit<EngineSandbox, 'plan'>;

/** The output of a command. */
type PrintedOutput = Pick<MergedResult, 'output'> | Pick<SeparateResult, 'stdout' | 'stderr'>;

/**
 * Adds the sandbox's denials to a result, as far as they are known.
 *
 * @param directory The command's working directory.
 * @param since When the command began, by `performance.now()`.
 */
export async function withDenials<R extends PrintedOutput & Pick<BaseResult, 'sandbox'>>(
  result: R,
  sandbox: EngineSandbox,
  directory: string,
  since: number,
): Promise<R> {
  if (result.sandbox === undefined) return result;
  refreshLayers(sandbox.plan);
  const told = { ...result, sandbox: withRenewal(result.sandbox, sandbox) };
  return withDenialsWithin(told, sandbox, directory, deniedHostsOf(sandbox.plan, since));
}

/**
 * Adds the denials of a sandbox of which only its bounds are left.
 *
 * @param denied The hosts that its proxy has denied.
 */
export async function withDenialsWithin<R extends PrintedOutput & Pick<BaseResult, 'sandbox'>>(
  result: R,
  sandbox: SandboxBounds,
  directory: string,
  denied: readonly HostDenial[],
): Promise<R> {
  if (result.sandbox === undefined) return result;
  const hosts = denied.map(({ host: target, rule }): Denial => {
    return { kind: 'connect', target, rule, source: 'proxy' };
  });
  const found = await findDenials(result, sandbox, directory);
  const byKernel = result.sandbox.denials.filter((denial) => counts(denial, found));
  const denials = [...byKernel, ...hosts, ...found];
  const { writable } = sandbox;
  const told = { ...result.sandbox, writable, denials };
  const isUnserved = sandbox.proxyPort !== undefined && told.enforced.network !== 'proxy';
  if (!isUnserved) return { ...result, sandbox: told };
  const unseen = [...(told.unseen ?? []), PROXY_NOT_SERVED];
  return { ...result, sandbox: { ...told, unseen } };
}

/**
 * Returns whether a denial by the kernel is to be reported. A name server that was not reached says less
 * than the name that was looked up; and a host without a network could not have connected either.
 */
function counts({ kind, target, rule }: Denial, found: readonly Denial[]): boolean {
  if (kind !== 'connect' || rule !== 'network') return true;
  const isNamed = target.endsWith(':53') && found.some((other) => other.rule === 'network');
  return !isNamed && hasNetwork();
}

/**
 * Finds denials in a command's output: a path or a host beside an error of the system, which the policy
 * refuses and the host itself could have used. Words alone prove nothing.
 *
 * @param directory The command's working directory.
 */
async function findDenials(
  result: PrintedOutput & Pick<BaseResult, 'sandbox'>,
  sandbox: SandboxBounds,
  directory: string,
): Promise<readonly Denial[]> {
  const captures = 'output' in result ? [result.output] : [result.stderr, result.stdout];
  const lines = captures.flatMap(textsOf).flatMap((text) => text.match(ERROR_LINE) ?? []);
  const found = new Map<string, Denial>();
  for (const line of lines.slice(0, MOST_LINES)) {
    const denial = await denialIn(line, sandbox, directory, result.sandbox?.enforced.write);
    if (denial !== undefined) found.set(`${denial.kind} ${denial.target}`, denial);
    if (found.size === MOST_DENIALS) break;
  }
  return [...found.values()];
}

function textsOf(capture: Capture): readonly string[] {
  if (capture.kind === 'complete') return [capture.text.slice(-MOST_CHARACTERS)];
  return [capture.head.slice(0, MOST_CHARACTERS), capture.tail.slice(-MOST_CHARACTERS)];
}

async function denialIn(
  line: string,
  sandbox: SandboxBounds,
  directory: string,
  by: Enforcement | undefined,
): Promise<Denial | undefined> {
  const host = /network|resol|service not known|EAI_AGAIN|ENOTFOUND/i.test(line)
    ? hostIn(line)
    : undefined;
  if (host !== undefined) return connectDenied(host, sandbox);
  for (const { name, isExact } of namesIn(line)) {
    const path = resolveFromHome(directory, name);
    if (path === undefined) continue;
    if (!isExact && !(await may(path, constants.F_OK))) continue;
    const denial = await pathDenied(path, line, sandbox, by);
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/** `curl: (6) Could not resolve host: example.com`, `getaddrinfo EAI_AGAIN example.com`. */
function hostIn(line: string): string | undefined {
  const named =
    /(?:host:?|EAI_AGAIN|ENOTFOUND|hostname|connect to|resolving) ['"‘]?([\w.-]+\.[a-z][\w-]+)/i;
  return named.exec(line)?.[1] ?? /ENETUNREACH ([\d.]+)/.exec(line)?.[1];
}

/** Any connection beyond its own loopback was denied, if the host has more than a loopback. */
function connectDenied(target: string, { network, proxyPort }: SandboxBounds): Denial | undefined {
  if (network || proxyPort !== undefined || target === 'localhost' || target.startsWith('127.'))
    return undefined;
  if (!hasNetwork()) return undefined;
  return { kind: 'connect', target, rule: 'network', source: 'output' };
}

/** Returns whether the host has more than a loopback. */
function hasNetwork(): boolean {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.some((address) => address?.internal === false);
}

const PRIVATE = ['/tmp', '/var/tmp', '/run', '/var/run', '/dev/shm'];

async function pathDenied(
  target: string,
  line: string,
  sandbox: SandboxBounds,
  by: Enforcement | undefined,
): Promise<Denial | undefined> {
  const denied = (kind: 'read' | 'write', rule: Denial['rule']): Denial => {
    return { kind, target, rule, source: 'output' };
  };
  if (/permission denied|no such file/i.test(line)) {
    const isHidden = longestOf(target, sandbox.hidden) > longestOf(target, sandbox.shown);
    if (isHidden)
      return (await may(target, constants.R_OK)) ? denied('read', 'denyRead') : undefined;
  }
  const isSeen = isAmong(target, [...sandbox.writable, ...sandbox.shown, ...sandbox.sockets]);
  if (sandbox.ownTmp && isAmong(target, PRIVATE) && !isSeen) {
    const isGone = /no such file/i.test(line) && (await may(target, constants.F_OK));
    return isGone ? denied('read', 'tmp') : undefined;
  }
  if (/no such file/i.test(line)) return undefined;
  // A read-only mount fails with "read-only file system"; "permission denied" is another rule's.
  if (by === 'namespace' && /permission denied/i.test(line)) return undefined;
  const isKept =
    isAmong(target, sandbox.kept) || sandbox.kept.some((path) => isAmong(path, [target]));
  const isWritable = isAmong(target, sandbox.writable);
  if (isWritable && !isKept) return undefined;
  // The kernel reports denials of sockets.
  if (await is('isSocket', target)) return undefined;
  if (!(await mayWrite(target))) return undefined;
  return denied('write', isWritable ? 'denyWrite' : 'allowWrite');
}

/**
 * Returns whether the host could write a path; for one that does not exist, whether it could create it,
 * except in the kernel's file systems.
 */
async function mayWrite(path: string): Promise<boolean> {
  if (isAmong(path, ['/proc', '/sys'])) return false;
  if (await may(path, constants.W_OK)) return true;
  if (await may(path, constants.F_OK)) return false;
  const above = dirname(path);
  return (await may(above, constants.W_OK)) && (await is('isDirectory', above));
}

async function is(kind: 'isSocket' | 'isDirectory', path: string): Promise<boolean> {
  try {
    return (await stat(path))[kind]();
  } catch {
    return false;
  }
}

async function may(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode);
    return true;
  } catch {
    return false;
  }
}
