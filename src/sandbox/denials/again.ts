import type { RunResult } from '../../engine/outcome.js';
import type { Denial } from '../../engine/sandbox-report.js';
import { checkFunction } from '../../support/checks.js';
import { removeHostFile } from '../../support/directories/host-files.js';
import { absolutePath } from '../../support/paths.js';
import { unlessAborted } from '../../support/timing.js';
import type { SandboxOption, SandboxPolicy } from '../policy.js';
import { readSandbox, toolSandbox } from '../read-policy.js';
import { withEarlierChanges } from '../undo/report.js';
import type { UndoOption } from '../undo/undo-policy.js';
import { withUndo } from '../undo/with-undo.js';

/** A command that its sandbox has denied something, and that has ended by itself. */
export interface DeniedCommand {
  /** Its text. */
  readonly command: string;
  /** The known denials: at least one. */
  readonly denials: readonly Denial[];
  /** How the command ended. Its effects until then remain. */
  readonly result: RunResult;
  /** The policy of its sandbox, to be widened. */
  readonly sandbox: SandboxPolicy;
  /** The signal of the call: once it is aborted, no answer is needed. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Decides about a command that was denied something: it is run again, once, in the returned sandbox, or
 * not (`undefined`).
 */
export type OnDenied = (
  denied: DeniedCommand,
) => SandboxOption | undefined | Promise<SandboxOption | undefined>;

/** The options of a command that matter here. */
interface CommandTerms {
  readonly cwd?: string | URL | undefined;
  readonly sandbox?: SandboxOption | undefined;
  readonly undo?: UndoOption | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly spill?:
    | string
    | { readonly path: string; readonly afterBytes?: number | undefined }
    | undefined;
}

/** @throws {InputError} `onDenied` is not a function. */
export function checkOnDenied(given: unknown): void {
  checkFunction('onDenied', given);
}

/**
 * Returns the result of a command, or of its second run, if it was denied something and a wider sandbox
 * is returned.
 *
 * @param again Runs the command in another sandbox.
 * @throws The error that `onDenied` throws or rejects with.
 */
export async function orAgain<Result extends RunResult>(
  first: Result,
  onDenied: OnDenied,
  { cwd = '.', sandbox: option, undo, signal, spill }: CommandTerms,
  again: (sandbox: SandboxOption) => Promise<Result>,
): Promise<Result> {
  const { sandbox: report, outcome, durationMs, background, command } = first;
  const sandbox = option === undefined ? undefined : readSandbox(withUndo(option, undo));
  const denials = report?.denials ?? [];
  const isOver = outcome.kind === 'exited' || outcome.kind === 'signaled';
  if (sandbox === undefined || denials.length === 0 || !isOver) return first;
  const asking = onDenied({ command, denials, result: first, sandbox, signal });
  const wider = await unlessAborted(Promise.resolve(asking), signal).catch((error) => {
    if (signal?.aborted) return undefined;
    throw error;
  });
  if (wider === undefined || wider === null) return first;
  // A spill file that is created late must not exist yet.
  const isLate = typeof spill === 'object' && spill.afterBytes !== undefined;
  if (isLate && first.spill !== undefined) {
    // The second run reports a file that could not be removed.
    await removeHostFile(first.spill.path).catch(() => {});
  }
  // The workspace stays that of the first run, and what was changed can be taken back as before.
  const asBefore =
    typeof wider === 'object' && wider.undo !== undefined ? wider : withUndo(wider, sandbox.undo);
  const next = toolSandbox(asBefore, sandbox.workspace) ?? 'danger-full-access';
  const second = await withEarlierChanges(await again(next), first, absolutePath('cwd', cwd));
  return { ...second, firstRun: { outcome, durationMs, denials, background } };
}
