import type { EngineCommand } from '../../../engine/message.js';
import type { BaseResult, RunResult } from '../../../engine/outcome.js';
import type { IncompleteCheckout } from '../../../engine/sandbox-report.js';
import { messageOf } from '../../../support/errors.js';
import { incompleteIn, type RunScript } from './look.js';
import { type CheckoutMark, hasMoved, markCheckouts } from './mark.js';

/** What a command is compared with once it has ended. */
export type CheckoutMarks = readonly CheckoutMark[];

/** Working trees that were incomplete when somebody looked last, by their git directories. */
const standing = new Set<string>();

const marks = new WeakMap<EngineCommand, CheckoutMarks>();

/** Has a command in a sandbox compared with how the working trees of git are now. */
export function markBefore(command: EngineCommand): void {
  const { sandbox } = command;
  if (sandbox !== undefined && !marks.has(command)) marks.set(command, markCheckouts(sandbox));
}

/**
 * The result with what git could not replace of what the sandbox keeps, as far as that is to be seen.
 * Nothing is run unless HEAD, its branch or the index has changed, or one was incomplete already.
 *
 * @param run Runs a command of ours, beside those that are told of.
 */
export async function withCheckouts<R extends Pick<BaseResult, 'sandbox'>>(
  result: R,
  command: EngineCommand,
  run: (command: EngineCommand) => Promise<RunResult>,
): Promise<R> {
  const before = marks.get(command) ?? [];
  return withCheckoutsSince(result, before, (script, args) =>
    run(lookingCommand(command, script, args)),
  );
}

/** The same for whoever has the marks. */
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
        `whether git could replace what is kept in ${top} was not to be seen: ${messageOf(error)}`,
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

/** A command of ours where another one has run. */
export function lookingCommand(
  { environment, sandbox, directory }: Pick<EngineCommand, 'environment' | 'sandbox' | 'directory'>,
  script: string,
  args: readonly string[],
): EngineCommand {
  const looking: EngineCommand = {
    text: '',
    argv: ['/bin/sh', '-c', script, 'sh', ...args],
    shells: '',
    environment,
    // The command may have removed its own.
    directory: args[0] ?? directory,
    follow: false,
    lowPriority: false,
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
  // It is itself compared with nothing.
  marks.set(looking, []);
  return looking;
}
