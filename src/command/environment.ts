import { inheritedEnvironment } from '../engine/environ.js';
import { checkEnvironment, checkInherit } from '../options/environment.js';
import { isShellVariable } from '../shell/variables.js';
import { InputError, showValue } from '../support/errors.js';
import { removeLaunchers } from './launchers.js';
import { compileNamePatterns, hasPassword, SECRET_NAME_PATTERNS } from './secrets.js';

/** What a command's environment is made of, lowest layer first. */
export interface EnvironmentPolicy {
  /** The host's own variables: without secrets, all of them, or none. */
  readonly inherit: 'scrubbed' | 'all' | 'none';
  /** Those, as `inheritedEnvironment` gave them. Default: as they are now. */
  readonly inherited?: string | undefined;
  /** Name patterns that count as secrets. Default: {@link SECRET_NAME_PATTERNS}. */
  readonly scrub?: readonly string[] | undefined;
  /** Laid over the inherited variables. */
  readonly defaults?: Readonly<Record<string, string>> | undefined;
  /** Laid over all else; `undefined` removes a name. */
  readonly overrides?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The command's working directory, absolute. Becomes `PWD`, by which a shell keeps the path of a
   * symlinked directory as it was given.
   */
  readonly cwd?: string | undefined;
}

/**
 * A command's environment block: `NAME=value` entries joined by NUL, one character a byte, because
 * inherited values need not be UTF-8.
 *
 * `scrub` and `defaults` are compared by identity and must not be changed once used: what is made
 * of them and of the inherited variables is kept, so that a call costs only its own overrides.
 *
 * @throws {InputError} A name is empty or has `=` or NUL, a value is not a string without NUL, or
 *   the policy itself is not one.
 */
export function resolveEnvironment(policy: EnvironmentPolicy): string {
  if (policy.overrides !== undefined) checkEnvironment(policy.overrides);
  const base = findBase(policy);
  if (policy.overrides === undefined && policy.cwd === undefined) return unterminated(base.block);

  const removed: number[] = [];
  let added = '';
  const lay = (name: string, value: string | undefined): void => {
    const key = encodeName(name);
    const start = base.offsets.get(key);
    if (start !== undefined) removed.push(start);
    if (value !== undefined && !ENGINE_VARIABLES.has(key)) {
      added += `${key}=${encodeValue(name, value)}\0`;
    }
  };
  if (policy.cwd !== undefined && !hasName(policy.overrides, 'PWD')) lay('PWD', policy.cwd);
  for (const name in policy.overrides) {
    if (hasName(policy.overrides, name)) lay(name, policy.overrides[name]);
  }
  return unterminated(withoutEntries(base.block, removed) + added);
}

/** The engine sets these itself, after everybody else. */
const ENGINE_VARIABLES: ReadonlySet<string> = new Set(['_', 'FORKLINE_MARK']);

/** The part of an environment that does not change from call to call. */
interface Base {
  readonly inherited: string;
  readonly inherit: EnvironmentPolicy['inherit'];
  readonly scrub: readonly string[];
  readonly defaults: Readonly<Record<string, string>> | undefined;
  /** Every entry ends with NUL here, the last one too. */
  readonly block: string;
  /** Where each name's entry begins in `block`. */
  readonly offsets: ReadonlyMap<string, number>;
}

// One for each kind of caller in a process (`run()`, each tool): a handful, newest first.
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
    // The first of two entries with one name is the one that getenv() in the host sees.
    if (name === '' || entries.has(name)) continue;
    if (isShellVariable(name)) continue;
    if (secret !== undefined && (secret.test(name) || hasPassword(entry))) continue;
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

/** One pass over the block however many entries go: slices of a flat string cost nothing. */
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

function unterminated(block: string): string {
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

/** The value stays out of the messages: it may be what the caller wants to keep to itself. */
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
