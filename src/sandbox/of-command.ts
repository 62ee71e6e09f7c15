import { InputError } from '../support/errors.js';
import type { SandboxPolicy } from './policy.js';
import { rememberSandbox } from './renewal.js';
import { type ResolvedSandbox, resolveSandbox } from './resolve.js';

/**
 * What a policy comes to for a command.
 *
 * @param directory Where it starts.
 * @param text All that the command says.
 * @throws {InputError} The directory is the whole file system, or it says a secret.
 * @throws {LaunchError} Where temporary files are nothing can be written, and there are secrets.
 */
export function sandboxOfCommand(
  policy: SandboxPolicy,
  directory: string,
  text: string,
): ResolvedSandbox {
  const sandbox = resolveSandbox(policy, directory);
  refuseSecrets(text, sandbox);
  rememberSandbox(policy, directory, sandbox);
  return sandbox;
}

/** @throws {InputError} The command itself has a secret's value, which is to be nowhere in its sandbox. */
export function refuseSecrets(text: string, { secrets }: ResolvedSandbox): void {
  const found = secrets?.all.find(({ value }) => text.includes(value));
  if (found === undefined) return;
  const instead = `expected $${found.name} in place of the value of sandbox.secrets.${found.name}`;
  throw new InputError(`command: ${instead}, got the value`);
}
