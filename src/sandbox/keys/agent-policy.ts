import { isMissing, type OptionNames, readOptions, wholeFrom } from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';

/** How commands may use the user's ssh agent. */
export interface SandboxSshAgent {
  /** The agent's socket: absolute. Default: `SSH_AUTH_SOCK` of this process. */
  readonly socket?: string | undefined;
  /** Fingerprints of the keys that may sign, as `ssh-add -l` shows them: `SHA256:…`. Default: all keys. */
  readonly keys?: readonly string[] | undefined;
  /**
   * `known`: a login is signed only for a server whose key is in the user's or the system's `known_hosts`,
   * which the agent has verified (OpenSSH 8.9 or newer). `any`: for any server. Default: 'known'.
   */
  readonly hosts?: 'known' | 'any' | undefined;
  /** The highest number of signatures for one command, from 1 to 1000. Default: 1. */
  readonly maxSignatures?: number | undefined;
}

/** How commands may use the user's gpg agent. */
export interface SandboxGpgAgent {
  /** The agent's socket: absolute. Default: gpg's own "extra" socket. */
  readonly socket?: string | undefined;
  /** Keygrips of the keys that may sign, as `gpg -K --with-keygrip` shows them. Default: all keys. */
  readonly keygrips?: readonly string[] | undefined;
  /** The highest number of signatures for one command, from 1 to 1000. Default: 1. */
  readonly maxSignatures?: number | undefined;
}

const SSH_NAMES: OptionNames<SandboxSshAgent> = {
  socket: true,
  keys: true,
  hosts: true,
  maxSignatures: true,
};
const GPG_NAMES: OptionNames<SandboxGpgAgent> = {
  socket: true,
  keygrips: true,
  maxSignatures: true,
};
const MOST = 1000;

/** The fields of a policy that bear on agents. */
interface AgentFields {
  readonly sshAgent?: boolean | SandboxSshAgent | undefined;
  readonly gpgAgent?: boolean | SandboxGpgAgent | undefined;
  readonly filesystem?: { readonly tmp?: string | undefined } | undefined;
  readonly mode?: string | undefined;
  readonly require?: string | undefined;
}

/** Returns an agent's settings; undefined: it is not offered. */
export function settingsOf<Settings extends object>(
  given: boolean | Settings | undefined,
): Settings | Record<string, never> | undefined {
  if (given === true) return {};
  return given === false ? undefined : given;
}

/**
 * Checks the agents of a policy.
 *
 * @throws {InputError} A value is wrong, or the rest of the policy leaves no place for a broker.
 */
export function checkAgents(policy: AgentFields): void {
  const { sshAgent, gpgAgent } = policy;
  checkEach('sshAgent', sshAgent, SSH_NAMES, ({ keys, hosts }) => {
    checkList('sshAgent.keys', keys, /^SHA256:[A-Za-z\d+/]{43}$/, 'fingerprints such as SHA256:…');
    if (!isMissing(hosts) && hosts !== 'known' && hosts !== 'any') {
      const got = showValue(hosts);
      throw new InputError(`sandbox.sshAgent.hosts: expected 'known' or 'any', got ${got}`);
    }
  });
  checkEach('gpgAgent', gpgAgent, GPG_NAMES, ({ keygrips }) => {
    checkList('gpgAgent.keygrips', keygrips, /^[\da-f]{40}$/i, 'keygrips of 40 hex digits');
  });
  for (const [name, given] of Object.entries({ sshAgent, gpgAgent })) {
    if (settingsOf<object>(given) !== undefined) refuseBeside(name, policy);
  }
}

/** Refuses what leaves the broker no place of its own. */
function refuseBeside(name: string, { filesystem, mode, require }: AgentFields): void {
  if ((require ?? 'all') !== 'all') {
    const expected = `'all' with ${name}, which needs a process beside the sandbox`;
    throw new InputError(`sandbox.require: expected ${expected}, got ${showValue(require)}`);
  }
  const isOpen = mode === 'danger-full-access' && filesystem?.tmp === undefined;
  if (!isOpen && filesystem?.tmp !== 'shared') return;
  const expected = `'private' with ${name}, whose socket is in the sandbox's own /run`;
  const got = isOpen ? "'shared', as the mode has it" : "'shared'";
  throw new InputError(`sandbox.filesystem.tmp: expected ${expected}, got ${got}`);
}

function checkEach<Settings extends SandboxSshAgent | SandboxGpgAgent>(
  name: string,
  given: boolean | Settings | undefined,
  names: OptionNames<Settings>,
  check: (settings: Settings) => void,
): void {
  if (isMissing(given) || typeof given === 'boolean') return;
  if (typeof given !== 'object') {
    const got = showValue(given);
    throw new InputError(`sandbox.${name}: expected true, false or an object, got ${got}`);
  }
  const within = `sandbox.${name}.`;
  const settings = readOptions<Settings>(`sandbox.${name}`, given, names, { within });
  const { socket, maxSignatures } = settings;
  const isPath = typeof socket === 'string' && socket.startsWith('/') && !socket.includes('\0');
  if (!isMissing(socket) && !isPath) {
    const got = showValue(socket);
    throw new InputError(`${within}socket: expected an absolute path, got ${got}`);
  }
  if (maxSignatures !== undefined) wholeFrom(`${within}maxSignatures`, 1, maxSignatures, MOST);
  check(settings);
}

function checkList(name: string, given: unknown, each: RegExp, expected: string): void {
  if (isMissing(given)) return;
  const isList = Array.isArray(given) && given.length > 0;
  const wrong: unknown = isList ? given.find((one) => !each.test(String(one))) : given;
  if (isList && wrong === undefined) return;
  throw new InputError(
    `sandbox.${name}: expected an array of ${expected}, got ${showValue(wrong)}`,
  );
}
