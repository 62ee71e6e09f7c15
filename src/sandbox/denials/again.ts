import type { RunResult } from '../../engine/outcome.js';
import type { Denial } from '../../engine/sandbox-report.js';
import { checkFunction } from '../../support/checks.js';
import { removeHostFile } from '../../support/directories/host-files.js';
import { unlessAborted } from '../../support/timing.js';
import { readSandbox, type SandboxOption, type SandboxPolicy, toolSandbox } from '../policy.js';

/** A command that its sandbox has kept from something, and that has ended by itself. */
export interface DeniedCommand {
  /** Its text. */
  readonly command: string;
  /** What is known of what it was denied: at least one. */
  readonly denials: readonly Denial[];
  /** How it ended. What it did until then is done. */
  readonly result: RunResult;
  /** What it ran in: to be widened. */
  readonly sandbox: SandboxPolicy;
  /** That of the call: nobody needs an answer any more once it is aborted. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Decides what becomes of a command that was denied something: run again, once, in the sandbox that is
 * returned, or not (`undefined`).
 */
export type OnDenied = (
  denied: DeniedCommand,
) => SandboxOption | undefined | Promise<SandboxOption | undefined>;

/** What a command's options say of it. */
interface Terms {
  readonly sandbox?: SandboxOption | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly spill?:
    | string
    | { readonly path: string; readonly afterBytes?: number | undefined }
    | undefined;
}

/**
 * @throws {InputError} It is no function.
 */
export function checkOnDenied(given: unknown): void {
  checkFunction('onDenied', given);
}

/**
 * The result of a command, or of its second run, if it was denied something and more is allowed.
 *
 * @param again Runs it in another sandbox.
 * @throws What `onDenied` throws, or was rejected with.
 */
export async function orAgain<Result extends RunResult>(
  first: Result,
  onDenied: OnDenied,
  { sandbox: option, signal, spill }: Terms,
  again: (sandbox: SandboxOption) => Promise<Result>,
): Promise<Result> {
  const { sandbox: report, outcome, durationMs, background, command } = first;
  const sandbox = readSandbox(option);
  const denials = report?.denials ?? [];
  const isOver = outcome.kind === 'exited' || outcome.kind === 'signaled';
  if (sandbox === undefined || denials.length === 0 || !isOver) return first;
  const asking = onDenied({ command, denials, result: first, sandbox, signal });
  const wider = await unlessAborted(Promise.resolve(asking), signal).catch((error) => {
    if (signal?.aborted) return undefined;
    throw error;
  });
  if (wider === undefined || wider === null) return first;
  // One that is made once it is needed must not be there.
  const isLate = typeof spill === 'object' && spill.afterBytes !== undefined;
  if (isLate && first.spill !== undefined) {
    // What can't be removed is told of the second run.
    await removeHostFile(first.spill.path).catch(() => {});
  }
  // The place that can be written to stays the one that it was.
  const next = toolSandbox(wider, sandbox.workspace) ?? 'danger-full-access';
  const second = await again(next);
  return { ...second, firstRun: { outcome, durationMs, denials, background } };
}
