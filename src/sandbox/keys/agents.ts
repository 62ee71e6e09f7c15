import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { reachableDirectories } from '../../support/directories/reachable.js';
import { InputError } from '../../support/errors.js';
import { followTrusted } from '../pins/follow.js';
import type { SandboxPolicy } from '../policy.js';
import { type SandboxGpgAgent, type SandboxSshAgent, settingsOf } from './agent-policy.js';

/** The sockets and directories that commands see: native/keeper/src/sandbox/agents/inside.rs makes them. */
const SSH_INSIDE = '/run/forkline/ssh-agent';
const GPG_HOME_INSIDE = '/run/forkline-gnupg';

/** How often an agent signs for one command, unless the policy says otherwise. */
const MOST_SIGNATURES = 1;
const SYSTEM_KNOWN_HOSTS = '/etc/ssh/ssh_known_hosts';

/** The agents of the user that a sandbox offers. */
export interface OfferedAgents {
  /** Their entries in the plan. */
  readonly plan: string;
  /** The variables by which programs find them. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Returns the agents that a policy offers, as they are in this process's environment.
 *
 * @param home Undefined: there is none.
 * @throws {InputError} The policy offers an agent that this process does not know.
 */
export function agentsOf(policy: SandboxPolicy, home: string | undefined): OfferedAgents {
  const [ssh, gpg] = [settingsOf(policy.sshAgent), settingsOf(policy.gpgAgent)];
  return {
    plan: [...(ssh ? sshEntries(ssh, home) : []), ...(gpg ? gpgEntries(gpg, home) : [])].join(''),
    variables: {
      ...(ssh && { SSH_AUTH_SOCK: SSH_INSIDE }),
      ...(gpg && { GNUPGHOME: GPG_HOME_INSIDE }),
    },
  };
}

function sshEntries(settings: SandboxSshAgent, home: string | undefined): readonly string[] {
  const { keys = [], hosts = 'known', maxSignatures = MOST_SIGNATURES } = settings;
  const socket = settings.socket ?? process.env.SSH_AUTH_SOCK;
  if (socket === undefined || !isAbsolute(socket)) {
    const instead = "SSH_AUTH_SOCK in this process's environment, or a socket";
    throw new InputError(`sandbox.sshAgent: expected ${instead}, got neither`);
  }
  const mine =
    home === undefined
      ? []
      : ['known_hosts', 'known_hosts2'].map((name) => join(home, '.ssh', name));
  const files = [...mine, SYSTEM_KNOWN_HOSTS].flatMap((path) => trusted(path) ?? []);
  return [
    entry('ssh-agent', socketAt('sshAgent', socket)),
    ...keys.map((key) => entry('ssh-key', key)),
    ...(hosts === 'any'
      ? [entry('ssh-hosts', 'any')]
      : files.map((path) => entry('known-hosts', path))),
    entry('ssh-signatures', String(maxSignatures)),
  ];
}

function gpgEntries(settings: SandboxGpgAgent, home: string | undefined): readonly string[] {
  const given = process.env.GNUPGHOME;
  const directory = given && isAbsolute(given) ? given : home && join(home, '.gnupg');
  const socket = settings.socket ?? (directory && extraSocket(directory, home));
  if (socket === undefined || socket === '') {
    const instead = 'a home directory, GNUPGHOME or a socket';
    throw new InputError(`sandbox.gpgAgent: expected ${instead}, got none of them`);
  }
  const { keygrips = [], maxSignatures = MOST_SIGNATURES } = settings;
  const publicFiles = directory && trusted(directory);
  return [
    entry('gpg-agent', socketAt('gpgAgent', socket)),
    ...(publicFiles ? [entry('gpg-home', publicFiles)] : []),
    ...keygrips.map((key) => entry('gpg-key', key.toUpperCase())),
    entry('gpg-signatures', String(maxSignatures)),
  ];
}

const entry = (word: string, value: string): string => `${word}\0${value}\0`;

/** Returns the real path; undefined: a link that a command may have made leads elsewhere. */
function trusted(path: string): string | undefined {
  return followTrusted(path, reachableDirectories())?.real;
}

/** @throws {InputError} A link that a command may have made leads to the socket. */
function socketAt(field: string, path: string): string {
  const real = trusted(path);
  if (real !== undefined) return real;
  const wrong = `'${path}', which leads through a link that a command in a sandbox may have made`;
  throw new InputError(`sandbox.${field}: expected the socket of an agent, got ${wrong}`);
}

/**
 * Returns the socket that gpg's agent has for other machines, at which it refuses to hand out keys. It is
 * where gpg itself puts it, so that no program need be asked.
 */
function extraSocket(directory: string, home: string | undefined): string {
  const name = 'S.gpg-agent.extra';
  const runtime = `/run/user/${process.getuid?.() ?? 0}`;
  if (!existsSync(runtime)) return join(directory, name);
  const isUsual = home !== undefined && directory === join(home, '.gnupg');
  const own = join(runtime, 'gnupg', isUsual ? '' : `d.${zBase32(directory)}`, name);
  return existsSync(own) || !existsSync(join(directory, name)) ? own : join(directory, name);
}

/** Returns gpg's short name for a directory: the first 15 bytes of its SHA-1, 5 bits a character. */
function zBase32(directory: string): string {
  const digits = 'ybndrfg8ejkmcpqxot1uwisza345h769';
  const bits = [...createHash('sha1').update(directory).digest().subarray(0, 15)]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => digits[Number.parseInt(five, 2)]).join('');
}
