import type { OnExec } from '../../../engine/exec/exec-request.js';
import type { EngineCommand } from '../../../engine/message.js';
import type { BaseResult, RunResult } from '../../../engine/outcome.js';
import type { IncompleteCheckout } from '../../../engine/sandbox-report.js';
import { messageOf } from '../../../support/errors.js';
import { incompleteIn, type RunScript } from './look.js';
import { type CheckoutMark, hasMoved, markCheckouts } from './mark.js';
import { lookingOnly } from './own-programs.js';

/** The state of working trees with which a command's end is compared. */
export type CheckoutMarks = readonly CheckoutMark[];

/** Working trees that were incomplete when they were last examined, by their git directories. */
const standing = new Set<string>();

const marks = new WeakMap<EngineCommand, CheckoutMarks>();

/**
 * Records the state of git's working trees before a command in a sandbox, to be compared with the state
 * after it.
 */
export function markBefore(command: EngineCommand): void {
  const { sandbox } = command;
  if (sandbox !== undefined && !marks.has(command)) marks.set(command, markCheckouts(sandbox));
}

/**
 * Adds to the result the protected files that git could not replace, as far as they can be seen. No
 * command is run unless HEAD, its branch or the index has changed, or a working tree was incomplete
 * before.
 *
 * @param run Runs an internal command, which is not reported.
 */
export async function withCheckouts<R extends Pick<BaseResult, 'sandbox'>>(
  result: R,
  command: EngineCommand,
  run: (looking: OwnCommand) => Promise<RunResult>,
): Promise<R> {
  const before = marks.get(command) ?? [];
  return withCheckoutsSince(result, before, (script, args) =>
    run(lookingCommand(command, script, args)),
  );
}

/** Does the same for a caller that has the marks. */
export async function withCheckoutsSince<R extends Pick<BaseResult, 'sandbox'>>(
  result: R,
  before: CheckoutMarks,
  run: RunScript,
): Promise<R> {
  const { sandbox } = result;
  if (sandbox === undefined) return result;
  const incomplete: IncompleteCheckout[] = [];
  const unseen: string[] = [];
  for (const mark of before) {
    const { git, top } = mark.repository;
    if (!standing.has(git) && !hasMoved(mark)) continue;
    try {
      const found = await incompleteIn(mark, run);
      incomplete.push(...found);
      const isStanding = found.some(({ changed, staged, leftover }) =>
        [changed, staged, leftover].some((paths) => paths.length > 0),
      );
      if (isStanding) standing.add(git);
      else standing.delete(git);
    } catch (error) {
      unseen.push(
        `whether git could replace the kept files in ${top} is not known: ${messageOf(error)}`,
      );
    }
  }
  if (incomplete.length === 0 && unseen.length === 0) return result;
  const report = {
    ...sandbox,
    ...(incomplete.length > 0 && { incomplete }),
    ...(unseen.length > 0 && { unseen: [...(sandbox.unseen ?? []), ...unseen] }),
  };
  return { ...result, sandbox: report };
}

const LOOK_MS = 5000;
const MOST_BYTES = 4 * 1024 * 1024;

/** A command of forkline itself. */
export interface OwnCommand {
  readonly command: EngineCommand;
  /** Answers where the rules of its sandbox ask. Absent: its programs are denied then. */
  readonly onExec?: OnExec | undefined;
}

/** Makes an internal command for the sandbox in which another command has run. */
export function lookingCommand(
  { environment, sandbox, directory }: Pick<EngineCommand, 'environment' | 'sandbox' | 'directory'>,
  script: string,
  args: readonly string[],
): OwnCommand {
  const looking: EngineCommand = {
    text: '',
    argv: ['/bin/sh', '-c', script, 'sh', ...args],
    shells: '',
    environment,
    // The command may have removed its own working directory.
    directory: args[0] ?? directory,
    follow: false,
    lowPriority: false,
    startsAtOnce: undefined,
    umask: undefined,
    stdin: false,
    separate: true,
    terminal: undefined,
    headBytes: MOST_BYTES,
    tailBytes: 0,
    encoding: undefined,
    listen: undefined,
    pause: false,
    spillPath: undefined,
    spillMaxBytes: 0,
    spillAfterBytes: undefined,
    timeoutMs: LOOK_MS,
    graceMs: 100,
    groups: undefined,
    isSacrificed: false,
    cpuSeconds: 0,
    sandbox,
  };
  // The internal command is not compared itself.
  marks.set(looking, []);
  return { command: looking, onExec: sandbox && lookingOnly(looking.argv, sandbox) };
}
