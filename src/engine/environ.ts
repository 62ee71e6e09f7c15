import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { types } from 'node:util';
import { loadedBinding } from './addon/loaded.js';

/** Variables as they were last read. */
interface Seen {
  /** Undefined: some value is not a string, and may convert to another string the next time. */
  readonly names: readonly string[] | undefined;
  readonly values: readonly unknown[];
  readonly block: string;
}

let seen: Seen = { names: undefined, values: [], block: '' };

/** The `process.env` whose contents in `seen` were exactly those of the process's memory. */
let backed: NodeJS.ProcessEnv | undefined;

/**
 * Returns the variables that a command may inherit, as `process.env` has them now: `NAME=value` entries
 * joined by NUL, one character a byte. Returns the same string as long as nothing changes.
 *
 * They are read through Node's own interface, which alone is safe while a worker with `SHARE_ENV` writes,
 * and which knows a worker's own variables and a `process.env` that was replaced. That would be a third
 * of a command's cost for this thread; so the addon checks first whether the memory behind Node's own
 * object is unchanged.
 */
export function inheritedEnvironment(): string {
  const environment = process.env;
  if (environment === backed && isInMemory(seen.block)) return seen.block;
  look(environment);
  backed = isNodesOwn(environment) && isInMemory(seen.block) ? environment : undefined;
  return seen.block;
}

function isInMemory(block: string): boolean {
  return loadedBinding()?.environmentIs(block) ?? false;
}

let judged: { readonly environment: NodeJS.ProcessEnv; readonly isOwn: boolean } | undefined;

/** Returns whether writes to it change the process's memory. A worker's may be a copy. */
function isNodesOwn(environment: NodeJS.ProcessEnv): boolean {
  if (judged?.environment !== environment) {
    const { isMainThread } = process.getBuiltinModule('node:worker_threads');
    judged = { environment, isOwn: isMainThread && refusesAccessors(environment) };
  }
  return judged.isOwn;
}

/** A name that no program uses, and that exists only during the test. */
const PROBE = 'FORKLINE_PROBE';

/** Returns whether it is Node's object and not a plain one: only Node's refuses an accessor. */
function refusesAccessors(environment: NodeJS.ProcessEnv): boolean {
  // A proxy for Node's object would pass the refusal on, and may do anything else by itself.
  if (types.isProxy(environment)) return false;
  try {
    Object.defineProperty(environment, PROBE, { get: () => undefined, configurable: true });
    delete environment[PROBE];
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ERR_INVALID_OBJECT_DEFINE_PROPERTY';
  }
}

function look(environment: NodeJS.ProcessEnv): void {
  const names = namesOf(environment);
  if (isAsSeen(environment, names)) return;
  const values = names.map((name) => environment[name]);
  const block = blockOf(names, values);
  const isText = values.every((value) => value === undefined || typeof value === 'string');
  seen = {
    names: isText ? names : undefined,
    values,
    // The same object, so that comparing it takes no time.
    block: block === seen.block ? seen.block : block,
  };
}

function namesOf(environment: NodeJS.ProcessEnv): string[] {
  // Half the time of Object.keys, a quarter of a spread: there Node answers for each name.
  const names = Object.getOwnPropertyNames(environment);
  // Inherited properties of an object in place of Node's count, as they do for `child_process`.
  for (const name in Object.getPrototypeOf(environment)) {
    if (!(name in Object.prototype) && !names.includes(name)) names.push(name);
  }
  return names;
}

function isAsSeen(environment: NodeJS.ProcessEnv, names: readonly string[]): boolean {
  const { names: before, values } = seen;
  if (names.length !== before?.length) return false;
  for (let index = 0; index < before.length; index += 1) {
    // Uses the names seen before: these strings have been looked up already, which makes it faster.
    const name = before[index] ?? '';
    if (names[index] !== name || environment[name] !== values[index]) return false;
  }
  return true;
}

function blockOf(names: readonly string[], values: readonly unknown[]): string {
  return names.flatMap((name, index) => entriesOf(name, values[index])).join('\0');
}

/** Returns the entries of one name: one, none, or several that differ in bytes that are not UTF-8. */
function entriesOf(name: string, value: unknown): string[] {
  const exact = inexpressible().filter((variable) => variable.name === name);
  if (value === undefined) {
    // Node lists a name that is not UTF-8, and finds no value under its converted name.
    return exact.filter(({ hasTextName }) => !hasTextName).map(({ entry }) => entry);
  }
  const unchanged = exact.find((variable) => variable.hasTextName && variable.value === value);
  if (unchanged !== undefined) return [unchanged.entry];
  // No environment has such names; a caller's own object may.
  if (name === '' || /[=\0]/.test(name)) return [];
  const [text = ''] = String(value).split('\0', 1);
  return [Buffer.from(`${name}=${text}`, 'utf8').toString('latin1')];
}

/** A variable that the process was started with and that is not UTF-8. */
interface Inexpressible {
  /** Name and value as `process.env` converts them. */
  readonly name: string;
  readonly value: string;
  readonly hasTextName: boolean;
  /** The exact entry, one character a byte. */
  readonly entry: string;
}

let started: readonly Inexpressible[] | undefined;

/**
 * Returns the variables that are not UTF-8; without `/proc` none, and commands get the text that
 * `process.env` has.
 */
function inexpressible(): readonly Inexpressible[] {
  started ??= readStarted();
  return started;
}

function readStarted(): Inexpressible[] {
  try {
    const block = readFileSync('/proc/self/environ');
    return isUtf8(block) ? [] : block.toString('latin1').split('\0').flatMap(toInexpressible);
  } catch {
    return [];
  }
}

function toInexpressible(entry: string): Inexpressible[] {
  const bytes = Buffer.from(entry, 'latin1');
  const end = bytes.indexOf('=');
  if (end < 1 || isUtf8(bytes)) return [];
  const [name, value] = [bytes.subarray(0, end), bytes.subarray(end + 1)];
  return [
    {
      name: name.toString('utf8'),
      value: value.toString('utf8'),
      hasTextName: isUtf8(name),
      entry,
    },
  ];
}
