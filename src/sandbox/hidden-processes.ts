import { areProcessesHidden } from '../engine/told/report.js';
import { InputError, showValue } from '../support/errors.js';
import { settingsOf } from './keys/agent-policy.js';
import type { SandboxPolicy } from './policy.js';

/**
 * Refuses agents and published ports where `/proc` hides the processes in a sandbox from those beside it: a broker
 * that doesn't see who asks answers nobody, and a port whose owner is not seen is not published.
 *
 * @throws {InputError} The policy has them, and processes are hidden.
 */
export function refuseUnseen({ sshAgent, gpgAgent, ports }: SandboxPolicy): void {
  if (!areProcessesHidden()) return;
  const publish = ports?.publish ?? [];
  const fields = [
    ['sshAgent', 'no agent', settingsOf<object>(sshAgent) && sshAgent],
    ['gpgAgent', 'no agent', settingsOf<object>(gpgAgent) && gpgAgent],
    ['ports.publish', 'nothing', publish.length > 0 ? publish : undefined],
  ] as const;
  for (const [name, expected, given] of fields) {
    if (given === undefined) continue;
    const where = "where /proc hides other users' processes (hidepid), and so those in a sandbox";
    throw new InputError(`sandbox.${name}: expected ${expected} ${where}, got ${showValue(given)}`);
  }
}
