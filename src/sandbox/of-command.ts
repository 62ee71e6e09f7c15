import { InputError } from '../support/errors.js';
import { refreshLayers } from './caches/refresh.js';
import type { SandboxPolicy } from './policy.js';
import { rememberSandbox } from './renewal.js';
import { type ResolvedSandbox, resolveSandbox } from './resolve.js';

/**
 * Resolves a policy for one command.
 *
 * @param directory The command's working directory.
 * @param text All text of the command.
 * @throws {InputError} The directory is the whole file system, or the text contains a secret.
 * @throws {LaunchError} The policy has secrets, and the temporary directory is not writable.
 */
export function sandboxOfCommand(
  policy: SandboxPolicy,
  directory: string,
  text: string,
): ResolvedSandbox {
  const sandbox = resolveSandbox(policy, directory);
  refuseSecrets(text, sandbox);
  rememberSandbox(policy, directory, sandbox);
  refreshLayers(sandbox.plan);
  return sandbox;
}

/**
 * @throws {InputError} The command's text contains the value of a secret, which must not be in the
 * sandbox.
 */
export function refuseSecrets(text: string, { secrets }: ResolvedSandbox): void {
  const found = secrets?.all.find(({ value }) => text.includes(value));
  if (found === undefined) return;
  const instead = `expected $${found.name} instead of the value of sandbox.secrets.${found.name}`;
  throw new InputError(`command: ${instead}, got the value`);
}
