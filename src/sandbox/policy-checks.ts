import { type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { PROXY_PORT } from './defaults.js';
import { checkExec } from './exec/check-exec.js';
import type { SandboxExec } from './exec/exec-policy.js';
import type { SandboxCacheBound, SandboxDomains, SandboxPolicy } from './policy.js';
import { checkPorts, type SandboxPorts } from './ports/ports.js';

const CACHE_NAMES: OptionNames<SandboxCacheBound> = { maxBytes: true };
const DOMAIN_NAMES: OptionNames<SandboxDomains> = { allowedDomains: true, deniedDomains: true };

/** Refuses to promise a judgement where there is none. */
export function checkSettings({ settings, filesystem, require, mode }: SandboxPolicy): void {
  checkWord('settings', settings, ['judge', 'read-only']);
  const reason = settings === 'judge' && notJudged(mode, require, filesystem);
  if (!reason) return;
  throw new InputError(`sandbox.settings: expected nothing beside ${reason}, got 'judge'`);
}

/** Returns the field by which nothing is judged, and why; undefined: there is none. */
function notJudged(
  mode: SandboxPolicy['mode'],
  require: SandboxPolicy['require'],
  filesystem: SandboxPolicy['filesystem'],
): string | undefined {
  if (require === 'landlock') return "require: 'landlock', which can't judge";
  if (mode === 'danger-full-access') return "mode: 'danger-full-access', which keeps no settings";
  if (!filesystem?.denyWrite) return undefined;
  return 'filesystem.denyWrite, which says itself what is kept';
}

/** @throws {InputError} The ports are not valid, or can't be had with the rest of the policy. */
export function checkPortsOf(
  { mode, network, require, secrets }: SandboxPolicy,
  ports: SandboxPorts,
): void {
  const isOpen = mode === 'danger-full-access' && network === undefined && secrets === undefined;
  if (network === 'full' || isOpen) {
    throw new InputError(
      "sandbox.ports: expected nothing with network 'full', where all ports are the host's",
    );
  }
  if (require === 'landlock') {
    throw new InputError(
      "sandbox.ports: expected nothing with require 'landlock', which leaves no loopback",
    );
  }
  const hasProxy = typeof network === 'object' || secrets !== undefined;
  checkPorts(ports, hasProxy ? PROXY_PORT : undefined);
}

/** @throws {InputError} The rules are not valid, or can't be kept with the rest of the policy. */
export function checkExecOf({ require }: SandboxPolicy, exec: SandboxExec): void {
  checkExec(exec);
  if (require !== 'landlock') return;
  const expected = "nothing with require 'landlock', which can't judge programs";
  throw new InputError(`sandbox.exec: expected ${expected}`);
}

const DOMAIN = /^(?:\*\.)?[a-z\d](?:[\w.-]*[a-z\d])?$|^[\d.]+$|^[\da-f:]+$/i;

export function checkNetwork(network: SandboxPolicy['network'] | null): void {
  if (typeof network !== 'object' || network === null) {
    checkWord('network', network, ['none', 'full']);
    return;
  }
  const within = 'sandbox.network.';
  const domains = readOptions('sandbox.network', network, DOMAIN_NAMES, { within });
  checkDomains('network.allowedDomains', domains.allowedDomains);
  checkDomains('network.deniedDomains', domains.deniedDomains ?? []);
}

/** @throws {InputError} The caches are not valid, or can't be had with the rest of the policy. */
export function checkCaches({ caches, require }: SandboxPolicy): void {
  checkCacheField(caches);
  if (caches === undefined || caches === 'none' || require !== 'landlock') return;
  const expected = "'none' with require 'landlock', which leaves no layers";
  throw new InputError(`sandbox.caches: expected ${expected}, got ${showValue(caches)}`);
}

function checkCacheField(caches: SandboxPolicy['caches']): void {
  if (typeof caches !== 'object') {
    checkWord('caches', caches, ['private', 'none']);
    return;
  }
  const within = 'sandbox.caches.';
  const { maxBytes } = readOptions('sandbox.caches', caches, CACHE_NAMES, { within });
  if (Number.isSafeInteger(maxBytes) && maxBytes >= 0) return;
  const expected = 'a number of bytes, 0 or more';
  throw new InputError(`sandbox.caches.maxBytes: expected ${expected}, got ${showValue(maxBytes)}`);
}

export function checkDomains(name: string, given: unknown): void {
  const isList = Array.isArray(given);
  const wrong: unknown = isList ? given.find((one) => !DOMAIN.test(String(one))) : given;
  if (isList && wrong === undefined) return;
  const expected = 'an array of names such as example.com or *.example.com';
  throw new InputError(`sandbox.${name}: expected ${expected}, got ${showValue(wrong)}`);
}

export function checkWord(name: string, value: unknown, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value as string)) return;
  const expected = allowed.map((one) => `'${one}'`).join(' or ');
  throw new InputError(`sandbox.${name}: expected ${expected}, got ${showValue(value)}`);
}

export function checkPaths(name: string, value: unknown): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) {
    throw new InputError(`sandbox.${name}: expected an array of paths, got ${showValue(value)}`);
  }
  for (const path of value) {
    const isPath = typeof path === 'string' && path !== '' && !path.includes('\0');
    if (isPath && path.isWellFormed()) continue;
    throw new InputError(`sandbox.${name}: expected paths, got ${showValue(path)}`);
  }
}
