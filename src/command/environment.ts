import { inheritedEnvironment } from '../engine/environ.js';
import { checkEnvironment, checkInherit } from '../options/environment.js';
import { isShellVariable } from '../shell/variables.js';
import { InputError, showValue } from '../support/errors.js';
import { HOSTS_OWN } from '../support/hosts-own.js';
import { removeLaunchers } from './launchers.js';
import { compileNamePatterns, hasPassword, SECRET_NAME_PATTERNS } from './secrets.js';

/** The layers of a command's environment, lowest first. */
export interface EnvironmentPolicy {
  /** The host's own variables: without secrets, all of them, or none. */
  readonly inherit: 'scrubbed' | 'all' | 'none';
  /** The host's variables, as `inheritedEnvironment` returned them. Default: the current ones. */
  readonly inherited?: string | undefined;
  /** Name patterns that count as secrets. Default: {@link SECRET_NAME_PATTERNS}. */
  readonly scrub?: readonly string[] | undefined;
  /** Variables that replace inherited ones. */
  readonly defaults?: Readonly<Record<string, string>> | undefined;
  /** Variables that replace all others; `undefined` removes a name. */
  readonly overrides?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The command's working directory, absolute. Becomes `PWD`: from it a shell takes the path of its
   * directory with symbolic links as they were given.
   */
  readonly cwd?: string | undefined;
}

/**
 * Makes a command's environment block: `NAME=value` entries joined by NUL. Each character is one byte,
 * because inherited values need not be UTF-8.
 *
 * `scrub` and `defaults` are compared by identity and must not be changed after their first use: the
 * block made of them and of the inherited variables is cached, so that a call costs only its overrides.
 *
 * @throws {InputError} A name is empty or has `=` or NUL, a value is not a string without NUL, or
 *   a field of the policy is not valid.
 */
export function resolveEnvironment(policy: EnvironmentPolicy): string {
  if (policy.overrides !== undefined) checkEnvironment(policy.overrides);
  const base = findBase(policy);
  if (policy.overrides === undefined && policy.cwd === undefined) return withoutLastNul(base.block);

  const removed: number[] = [];
  let added = '';
  const set = (name: string, value: string | undefined): void => {
    const key = encodeName(name);
    const start = base.offsets.get(key);
    if (start !== undefined) removed.push(start);
    if (value !== undefined && !ENGINE_VARIABLES.has(key)) {
      added += `${key}=${encodeValue(name, value)}\0`;
    }
  };
  if (policy.cwd !== undefined && !hasName(policy.overrides, 'PWD')) set('PWD', policy.cwd);
  for (const name in policy.overrides) {
    if (hasName(policy.overrides, name)) set(name, policy.overrides[name]);
  }
  return withoutLastNul(withoutEntries(base.block, removed) + added);
}

/** Variables that the engine itself sets last, in place of all others. */
const ENGINE_VARIABLES: ReadonlySet<string> = new Set(['_', 'FORKLINE_MARK']);

/** The part of an environment that does not change from call to call. */
interface Base {
  readonly inherited: string;
  readonly inherit: EnvironmentPolicy['inherit'];
  readonly scrub: readonly string[];
  readonly defaults: Readonly<Record<string, string>> | undefined;
  /** The entries, each of which ends with NUL, the last one too. */
  readonly block: string;
  /** The index in `block` where the entry of each name begins. */
  readonly offsets: ReadonlyMap<string, number>;
}

// Each kind of caller in a process (`run()`, each tool) has one; newest first.
const KEPT_BASES = 4;
const bases: Base[] = [];

function findBase(policy: EnvironmentPolicy): Base {
  const inherited = policy.inherit === 'none' ? '' : (policy.inherited ?? inheritedEnvironment());
  const scrub = policy.scrub ?? SECRET_NAME_PATTERNS;
  const found = bases.find(
    (base) =>
      base.inherit === policy.inherit &&
      base.scrub === scrub &&
      base.defaults === policy.defaults &&
      base.inherited === inherited,
  );
  if (found !== undefined) return found;
  checkInherit(policy.inherit);
  const made = makeBase(inherited, policy.inherit, scrub, policy.defaults);
  bases.unshift(made);
  bases.length = Math.min(bases.length, KEPT_BASES);
  return made;
}

function makeBase(
  inherited: string,
  inherit: EnvironmentPolicy['inherit'],
  scrub: readonly string[],
  defaults: EnvironmentPolicy['defaults'],
): Base {
  const secret = inherit === 'scrubbed' ? compileNamePatterns(scrub) : undefined;
  const entries = new Map<string, string>();
  for (const entry of inherited.split('\0')) {
    const name = entry.slice(0, Math.max(0, entry.indexOf('=')));
    // Of two entries with the same name, getenv() in the host sees the first.
    if (name === '' || entries.has(name)) continue;
    if (isShellVariable(name)) continue;
    if (secret !== undefined) {
      if (HOSTS_OWN.has(name) || secret.test(name) || hasPassword(entry)) continue;
    }
    entries.set(name, entry);
  }
  removeLaunchers(entries);
  for (const [name, value] of Object.entries(defaults ?? {})) {
    const key = encodeName(name);
    entries.set(key, `${key}=${encodeValue(name, value)}`);
  }
  return { inherited, inherit, scrub, defaults, ...joinEntries(entries) };
}

function joinEntries(entries: ReadonlyMap<string, string>): Pick<Base, 'block' | 'offsets'> {
  const offsets = new Map<string, number>();
  let length = 0;
  for (const [name, entry] of entries) {
    offsets.set(name, length);
    length += entry.length + 1;
  }
  const block = [...entries.values(), ''].join('\0');
  return { block, offsets };
}

/** Removes the entries that begin at these indexes, in one pass: slices of a flat string cost nothing. */
function withoutEntries(block: string, starts: number[]): string {
  if (starts.length === 0) return block;
  starts.sort((a, b) => a - b);
  let kept = '';
  let from = 0;
  for (const start of starts) {
    kept += block.slice(from, start);
    from = block.indexOf('\0', start) + 1;
  }
  return kept + block.slice(from);
}

function withoutLastNul(block: string): string {
  return block.slice(0, -1);
}

function hasName(record: Readonly<Record<string, unknown>> | undefined, name: string): boolean {
  return record !== undefined && Object.hasOwn(record, name);
}

function encodeName(name: string): string {
  if (name === '' || name.includes('=') || name.includes('\0')) {
    throw new InputError(`env: expected a name without "=" and NUL, got ${showValue(name)}`);
  }
  return encode(name);
}

/** Encodes a value. Messages do not repeat it, since it may be a secret of the caller. */
function encodeValue(name: string, value: unknown): string {
  if (typeof value !== 'string') {
    throw new InputError(`env.${name}: expected a string, got a value of type ${typeName(value)}`);
  }
  const nul = value.indexOf('\0');
  if (nul !== -1) {
    throw new InputError(`env.${name}: expected a string without NUL, got one at index ${nul}`);
  }
  return encode(value);
}

function typeName(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
const ASCII = /^[\x00-\x7f]*$/;

function encode(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}
