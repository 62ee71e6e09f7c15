import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import {
  InputError,
  type ReachedPort,
  type SandboxExec,
  type SandboxMode,
  type SandboxOption,
  type SandboxPolicy,
  type SandboxPorts,
  type SandboxSecret,
} from '../index.js';
import { isMissing } from '../support/checks.js';
import { messageOf, showValue } from '../support/errors.js';
import { parseOptions } from './arguments.js';

/** Returns the option `--sandbox`. */
export function sandboxOption(): Option {
  const option = new Option('--sandbox <mode>', 'what commands may write to, read and reach');
  return option.choices(['read-only', 'workspace-write', 'danger-full-access']);
}

/** Returns the option `--policy`. */
export function policyOption(): Option {
  const about =
    'a whole policy for the sandbox, such as {"sshAgent": true}; its mode: workspace-write';
  return new Option('--policy <json>', about).argParser(parsePolicy);
}

/** Parses a policy, whose fields are checked later. */
function parsePolicy(text: string): SandboxPolicy {
  const policy: SandboxPolicy = parseOptions(text);
  if (isMissing(policy.secrets)) return policy;
  const why = 'since all users can read the values in arguments; use --secret';
  throw new InvalidArgumentError(`Expected no secrets, ${why}.`);
}

/** The domains of each secret, by the name of its variable. */
type SecretDomains = Readonly<Record<string, readonly string[]>>;

/**
 * Returns the option `--secret`. It takes the name of a variable, since all users can read arguments.
 */
export function secretOption(): Option {
  const about = 'a variable of yours that commands can use for these domains, but not read';
  return new Option('--secret <name=domain,...>', about).argParser(collectSecret);
}

/** Adds `NAME=domain,...` to the secrets that were given before. */
function collectSecret(text: string, given: SecretDomains = {}): SecretDomains {
  const [, name, domains = ''] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Expected NAME=DOMAIN,DOMAIN.');
  return { ...given, [name]: domains.split(',') };
}

/** Returns the option `--undo`. */
export function undoOption(): Option {
  return new Option('--undo', 'record what commands change, so that it can be taken back');
}

/** Flags that say what the sandbox of commands is. */
export interface SandboxFlags {
  readonly policy?: SandboxPolicy | undefined;
  readonly sandbox?: SandboxMode | undefined;
  readonly secret?: SecretDomains | undefined;
  readonly reach?: SandboxPorts['reach'];
  readonly publish?: SandboxPorts['publish'];
  readonly execRules?: SandboxExec | undefined;
  /** Beside the sandbox, which need not be there. */
  readonly undo?: true | undefined;
}

/** Returns the option `--reach`. */
export function reachOption(): Option {
  const about = 'ports of this machine that commands in a sandbox reach';
  return new Option('--reach <port[:host-port],...>', about).argParser(collectPorts);
}

/** Returns the option `--publish`. */
export function publishOption(): Option {
  const about = 'ports of commands in a sandbox that are reached from this machine, or auto: all';
  return new Option('--publish <port[:host-port],...|auto>', about).argParser(collectPublished);
}

/** Returns the option `--exec-rules`. */
export function execRulesOption(): Option {
  const about = 'rules for the programs that commands in a sandbox execute, as JSON';
  return new Option('--exec-rules <file>', about).argParser(readRules);
}

/** Reads rules, or an object with them, whose fields are checked later. */
function readRules(path: string): SandboxExec {
  let given: unknown;
  try {
    given = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  if (Array.isArray(given)) return { rules: given };
  if (typeof given === 'object' && given !== null) return given;
  throw new InvalidArgumentError(
    'Expected an array of rules, or an object with rules, in the file.',
  );
}

/** Adds to the ports that were given before, by the same flag. */
function collectPorts(text: string, given: readonly ReachedPort[] = []): readonly ReachedPort[] {
  return [...given, ...parsePorts(text)];
}

/** Does so, or takes `auto`. */
function collectPublished(
  text: string,
  given?: 'auto' | readonly ReachedPort[],
): 'auto' | readonly ReachedPort[] {
  if (text !== 'auto' && given !== 'auto') return collectPorts(text, given);
  if (text === 'auto' && typeof given !== 'object') return text;
  throw new InvalidArgumentError("Expected ports or 'auto', not both.");
}

/** Parses `3000,8080:80`: ports inside, each with that of the host if that is another. */
function parsePorts(text: string): readonly ReachedPort[] {
  return text.split(',').map((part) => {
    const [, inside, host = inside] = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(part) ?? [];
    if (inside === undefined) {
      throw new InvalidArgumentError('Expected PORT or PORT:HOST_PORT, separated by commas.');
    }
    return { inside: Number(inside), host: Number(host) };
  });
}

/**
 * Returns the sandbox that the flags ask for; undefined: they ask for none.
 *
 * @param given A mode or a policy from elsewhere, which is not checked yet: the flags' mode replaces its mode,
 * their secrets and ports are added to its own, and their rules come before its own.
 * @throws {InputError} There are two policies, or two modes; a secret, a port or a rule has no sandbox; or a
 * secret has no value.
 */
export function sandboxOf(
  { policy, ...flags }: SandboxFlags,
  given?: unknown,
): SandboxOption | undefined {
  if (policy === undefined) return withFlags(flags, given);
  if (!isMissing(given)) {
    throw new InputError('--policy: expected no sandbox in --options beside it');
  }
  if (flags.sandbox !== undefined && (policy.mode ?? flags.sandbox) !== flags.sandbox) {
    const expected = `the mode of --sandbox, '${flags.sandbox}', or none`;
    throw new InputError(`--policy: expected ${expected}, got ${showValue(policy.mode)}`);
  }
  return withFlags(flags, policy) ?? policy;
}

function withFlags(
  { sandbox: mode, secret, reach, publish, execRules }: SandboxFlags,
  given: unknown,
): SandboxOption | undefined {
  const flags = { '--secret': secret, '--reach': reach, '--publish': publish };
  const [flag] = Object.entries(flags).find(([, value]) => value !== undefined) ?? [];
  if (flag === undefined && execRules === undefined) {
    return mode && isPolicy(given) ? { ...given, mode } : mode;
  }
  const base = baseOf(mode, given) ?? openBase(flag, mode ?? given);
  const hasPorts = reach !== undefined || publish !== undefined;
  return {
    ...base,
    ...(secret && { secrets: { ...base.secrets, ...valuesOf(secret) } }),
    ...(hasPorts && { ports: withPorts(base.ports, reach, publish) }),
    ...(execRules && { exec: withRules(base.exec, execRules) }),
  };
}

/** Returns the policy that secrets and ports are added to; undefined: there is no sandbox. */
function baseOf(mode: SandboxMode | undefined, given: unknown): SandboxPolicy | undefined {
  if (isPolicy(given)) return mode === undefined ? given : { ...given, mode };
  const which = mode ?? given ?? 'danger-full-access';
  // The library says what is wrong with another mode.
  return which === 'danger-full-access' ? undefined : { mode: which as SandboxMode };
}

/**
 * Returns the policy that rules for programs are added to where nothing else is confined.
 *
 * @param flag A flag that needs more; undefined: there is none.
 * @param mode The mode that was asked for.
 */
function openBase(flag: string | undefined, mode: unknown): SandboxPolicy {
  if (flag !== undefined) {
    throw new InputError(
      `${flag}: expected together with --sandbox read-only or workspace-write, or --policy`,
    );
  }
  // Not by itself: in a sandbox nothing gains rights, as sudo does.
  if (isMissing(mode))
    throw new InputError('--exec-rules: expected together with --sandbox, or --policy');
  return { mode: 'danger-full-access' };
}

function isPolicy(given: unknown): given is SandboxPolicy {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

/** Adds ports to those of a policy; what is wrong with these stays, for the library to say it. */
function withPorts(
  given: SandboxPorts | undefined,
  reach: SandboxPorts['reach'],
  publish: SandboxPorts['publish'],
): SandboxPorts {
  if (given && typeof given !== 'object') return given;
  return {
    ...given,
    ...(reach && { reach: added(given?.reach, reach) }),
    ...(publish && { publish: publish === 'auto' ? publish : added(given?.publish, publish) }),
  };
}

/** Puts rules before those of a policy, and other fields in place of its own. */
function withRules(given: SandboxExec | undefined, added: SandboxExec): SandboxExec {
  // The library says what is wrong with these.
  const isList =
    Array.isArray(given?.rules) && (isMissing(added.rules) || Array.isArray(added.rules));
  return isList
    ? { ...given, ...added, rules: [...(added.rules ?? []), ...(given?.rules ?? [])] }
    : { ...given, ...added };
}

/** Adds to a list; a flag that names ports replaces 'auto'. */
function added<Port>(given: readonly Port[] | 'auto' | undefined, more: readonly Port[]) {
  if (Array.isArray(given)) return [...given, ...more];
  return given && given !== 'auto' ? given : more;
}

/** @throws {InputError} A variable is not set. */
function valuesOf(given: SecretDomains): Readonly<Record<string, SandboxSecret>> {
  const secrets = Object.entries(given).map(([name, domains]) => {
    const value = process.env[name];
    if (value !== undefined) return [name, { value, domains }] as const;
    throw new InputError(`--secret ${name}: the environment variable ${name} is not set`);
  });
  return Object.fromEntries(secrets);
}
