import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { checkOptions, type OptionsOf } from '../../faces/options.js';
import { checkObject, isMissing, type OptionNames, readOptions } from '../../support/checks.js';
import { InputError, messageOf, showValue } from '../../support/errors.js';

/** Options that all commands and tools of clients have, whatever a client asks for. */
export interface Always
  extends Pick<
    OptionsOf<'remote'>,
    'sandbox' | 'limits' | 'env' | 'inheritEnv' | 'umask' | 'priority'
  > {
  /**
   * Directories of which clients may choose one, or one below, as `cwd`; the first is the default.
   * Default: any directory; with `sandbox`, only the one where the far side was started.
   */
  readonly directories?: readonly string[] | undefined;
  /**
   * The ports that clients may connect to from here, and listen on: `true`, all, of any host; or these, of this machine.
   * Default: all; with `sandbox`, none.
   */
  readonly ports?: boolean | readonly number[] | undefined;
}

const NAMES: OptionNames<Always> = {
  sandbox: true,
  limits: true,
  env: true,
  inheritEnv: true,
  umask: true,
  priority: true,
  directories: true,
  ports: true,
};

/** The names of this machine for itself. */
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/** Options by which this process itself, in no sandbox, reads or writes files that a client names. */
const OUTSIDE = ['spill', 'log', 'shellSnapshot', 'undo', 'taskLifetime'] as const;

/** What clients can't change. */
export class Restriction {
  readonly #always: Always;
  /** Directories in which `cwd` may lie, without links; none: it is not looked at. */
  readonly #directories: readonly string[];
  readonly #ports: boolean | readonly number[];

  /**
   * Checks what all commands and tools are to have.
   *
   * @throws {InputError} An option is not valid.
   */
  constructor(given: Always | null | undefined) {
    if (!isMissing(given)) checkObject('always', given);
    this.#always = isMissing(given)
      ? {}
      : readOptions('always', given, NAMES, { within: 'always.' });
    const { directories, ports, ...options } = this.#always;
    checkOptions(options);
    if (!isMissing(directories) && !(Array.isArray(directories) && directories.length > 0)) {
      throw new InputError(
        `always.directories: expected one directory or more, got ${showValue(directories)}`,
      );
    }
    const isConfined = !isMissing(options.sandbox);
    this.#ports = portsOf(ports, isConfined);
    const roots = directories ?? (isConfined ? [process.cwd()] : []);
    this.#directories = roots.map((root, index) =>
      realDirectory(`always.directories[${index}]`, root),
    );
  }

  /**
   * Returns a client's options with those that it can't change.
   *
   * @throws {InputError} The client gives one of them, or one that leads out of the sandbox.
   */
  apply(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const { directories: _, ports: __, env, ...always } = this.#always;
    for (const name of Object.keys(always)) {
      if (isMissing(Reflect.get(always, name)) || isMissing(given[name])) continue;
      throw new InputError(`${name}: the far side has set it for all its clients; leave it out`);
    }
    if (!isMissing(always.sandbox)) refuseOutside(given);
    const cwd = this.#cwdOf(given.cwd);
    return {
      ...given,
      ...withoutMissing(always),
      ...(cwd !== undefined && { cwd }),
      ...(env && { env: variablesOf(given.env, env) }),
    };
  }

  /**
   * Checks that clients may reach a port, or listen on it; 0: on any. Where only some are allowed, they are those of
   * this machine.
   *
   * @throws {InputError} They may not.
   */
  checkPort(port: number, host: string): void {
    const ports = this.#ports;
    if (typeof ports === 'boolean' ? ports : ports.includes(port) && LOOPBACK.has(host)) return;
    const allowed = typeof ports === 'boolean' || ports.length === 0 ? 'none' : ports.join(', ');
    throw new InputError(
      `port: expected one that the far side allows (${allowed}), got ${port} of ${host}`,
    );
  }

  #cwdOf(cwd: unknown): string | undefined {
    const [first] = this.#directories;
    if (first === undefined) return undefined;
    if (isMissing(cwd)) return first;
    const path = realDirectory('cwd', typeof cwd === 'string' ? resolve(first, cwd) : cwd);
    if (this.#directories.some((root) => path === root || path.startsWith(`${root}${sep}`))) {
      return path;
    }
    const roots = this.#directories.join(', ');
    throw new InputError(`cwd: expected a directory within ${roots}, got ${showValue(cwd)}`);
  }
}

/** @throws {InputError} They are no ports. */
function portsOf(given: unknown, isConfined: boolean): boolean | readonly number[] {
  if (isMissing(given)) return !isConfined;
  if (typeof given === 'boolean') return given;
  const isPort = (port: unknown): boolean =>
    Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;
  if (Array.isArray(given) && given.every(isPort)) return given;
  throw new InputError(
    `always.ports: expected true, false, or ports from 1 to 65535, got ${showValue(given)}`,
  );
}

function refuseOutside(given: Readonly<Record<string, unknown>>): void {
  for (const name of OUTSIDE) {
    if (isMissing(given[name]) || given[name] === false) continue;
    throw new InputError(
      `${name}: not taken where the far side has set a sandbox, since it has an effect outside of it`,
    );
  }
}

/**
 * Returns a client's variables with those of the far side.
 *
 * @throws {InputError} The client sets one of them.
 */
function variablesOf(given: unknown, always: object): Readonly<Record<string, unknown>> {
  const own = typeof given === 'object' && given !== null ? given : {};
  for (const name of Object.keys(always)) {
    if (!Object.hasOwn(own, name)) continue;
    throw new InputError(`env.${name}: the far side has set it for all its clients; leave it out`);
  }
  return { ...own, ...always };
}

function withoutMissing(options: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => !isMissing(value)));
}

/** @throws {InputError} There is no such directory. */
function realDirectory(name: string, path: unknown): string {
  if (typeof path !== 'string') {
    throw new InputError(`${name}: expected a string, got ${showValue(path)}`);
  }
  try {
    return realpathSync(path);
  } catch (error) {
    throw new InputError(`${name}: expected a directory that is there: ${messageOf(error)}`);
  }
}
