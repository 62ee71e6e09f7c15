import type { EngineCommand } from '../../engine/message.js';
import type { RunResult } from '../../engine/outcome.js';
import { withDenials } from '../../sandbox/denials/denials.js';
import { markBefore, withCheckouts } from '../../sandbox/git/checkout/checkout.js';
import { withHeld } from '../../sandbox/held/report.js';

// What is done before and after a command in a sandbox alone: in the package a part of its own, which is
// loaded when the first one starts.

/** Notes the state of checkouts before a sandboxed command starts. */
export function beforeSandboxed(command: EngineCommand): void {
  markBefore(command);
}

/**
 * Adds what the sandbox has denied a command, what it holds back, and which checkouts are incomplete.
 *
 * @param since When the command began, in milliseconds of `performance.now()`.
 * @param look Runs an internal command in the same sandbox.
 */
export async function afterSandboxed(
  result: RunResult,
  command: EngineCommand,
  since: number,
  look: (command: EngineCommand) => Promise<RunResult>,
): Promise<RunResult> {
  const { sandbox, directory = '/' } = command;
  if (sandbox === undefined) return result;
  const held = await withHeld(await withDenials(result, sandbox, directory, since));
  return withCheckouts(held, command, look);
}
