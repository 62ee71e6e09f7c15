import type { EngineCommand, EngineSandbox } from '../../engine/message.js';
import type { RunResult } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import { withDenials } from '../../sandbox/denials/denials.js';
import { markBefore, type OwnCommand, withCheckouts } from '../../sandbox/git/checkout/checkout.js';
import { withHeld } from '../../sandbox/held/report.js';
import { withPending } from '../../sandbox/pending/report.js';
import { withChanges } from '../../sandbox/undo/report.js';

// What is done before and after a command in a sandbox alone: in the package a part of its own, which is
// loaded when the first one starts.

/** Notes the state of checkouts before a sandboxed command starts. */
export function beforeSandboxed(command: EngineCommand): void {
  markBefore(command);
}

/**
 * Adds what the sandbox has denied a command, what it holds back, what the command has changed, and which checkouts
 * are incomplete.
 *
 * @param since When the command began, in milliseconds of `performance.now()`.
 * @param owner The owner of the command. Undefined: the host.
 * @param look Runs an internal command in the same sandbox.
 */
export async function afterSandboxed(
  result: RunResult,
  command: EngineCommand,
  since: number,
  owner: Owner | undefined,
  look: (looking: OwnCommand) => Promise<RunResult>,
): Promise<RunResult> {
  const { sandbox, directory = '/' } = command;
  if (sandbox === undefined) return result;
  const held = await withHeld(await withDenials(result, sandbox, directory, since));
  const told = await withCheckouts(held, command, look);
  const made = await withChanges(told, { text: command.text, cwd: directory, owner });
  const whole = await withPending(made, sandbox.plan, directory);
  const isToldOf = whole.executed !== undefined || !judgesPrograms(sandbox);
  return isToldOf ? whole : { ...whole, executed: [] };
}

/** Returns whether the programs that commands in a sandbox execute are recorded or judged. */
function judgesPrograms({ plan }: EngineSandbox): boolean {
  return /(?:^|\0)exec\0(?:record|rules)\0/.test(plan);
}
