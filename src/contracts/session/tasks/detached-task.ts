import { link } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OutputKeeper } from '../../../artifacts/keep-output.js';
import type { TerminalSize } from '../../../options/terminal.js';
import { messageOf } from '../../../support/errors.js';
import type { DetachedSubject } from '../../../tasks/detached/detached-subject.js';
import { startDetachedSubject } from '../../../tasks/detached/start.js';
import { detachedOrder, lastingNotify } from '../../../tasks/detached/watches/detached-watches.js';
import { hostOrder } from '../../../tasks/notify/ledger.js';
import type { Notify } from '../../../tasks/notify/notify.js';
import { readOutput } from '../../../tasks/output.js';
import { TOOL } from '../../contract.js';
import { detachedWork, endedReceipt } from '../../tasks/detached-work.js';
import type { SessionSettings } from '../options.js';
import { firstCharacters } from '../output.js';
import { taskEnd } from './command-task.js';
import type { EndedTask, ShownTaskOutput, StartedTask } from './session-tasks.js';

/** The most output that is kept of a detached command, in bytes. */
const QUOTA = 1024 ** 3;

/** A command that outlives the host. */
interface DetachedTaskCommand {
  readonly text: string;
  /** The environment block. */
  readonly environment: string;
  readonly cwd: string;
  readonly timeoutMs: number | undefined;
  readonly takesInput: boolean;
  /** The size of its terminal; its environment is then one for a terminal. Default: it has none. */
  readonly terminal?: TerminalSize | undefined;
  /** What is to be told of it besides. */
  readonly notify: Notify | undefined;
}

/**
 * Starts a command that goes on when the host ends, and is found again by its id.
 *
 * @throws {LaunchError} The command could not be started.
 * @throws Error There is no place for the output.
 */
export async function startDetachedTask(
  { text, environment, cwd, timeoutMs, takesInput, terminal, notify: own }: DetachedTaskCommand,
  settings: SessionSettings,
): Promise<StartedTask> {
  const { graceMs, shell, sandbox, maxCharacters, tasks } = settings;
  const { priority, startsAtOnce, umask, onExec } = settings;
  const lasting = lastingNotify(own, tasks);
  const subject = await startDetachedSubject(text, environment, {
    ...{ cwd, timeoutMs, graceMs, shell, sandbox, pty: terminal },
    ...{ priority, startsAtOnce, umask, onExec },
    outputQuota: QUOTA,
    hasInput: takesInput,
    completionLine: false,
    notify: lasting,
  });
  const startedAt = performance.now();
  const file = visibleFile(subject, settings);
  const ended = endOf(subject, maxCharacters, startedAt, file);
  const place = async () => ({ path: subject.outputFile, name: await file });
  const watches = lasting ? detachedOrder(subject, lasting) : own && hostOrder(own);
  return {
    work: { ...detachedWork(text, subject, ended.then(taskEnd)), place, watches },
    ended,
    outputSoFar: async () => shownOutput(subject, maxCharacters, await file),
    detachedPid: subject.record.pid,
  };
}

/** Returns the path of the output's file as the tool's commands see it. */
async function visibleFile(
  { id, outputFile }: DetachedSubject,
  { sandbox, outputs }: SessionSettings,
): Promise<string> {
  if (sandbox === undefined) return outputFile;
  const keeper = await OutputKeeper.open(outputs, TOOL);
  keeper.abandon();
  const beside = keeper.spill(0)?.path;
  if (beside === undefined) return outputFile;
  // A link: the command's own directory also has its control socket, which the sandbox must not reach.
  const seen = join(dirname(beside), `background-${id}`);
  return link(outputFile, seen).then(
    () => seen,
    () => outputFile,
  );
}

async function endOf(
  subject: DetachedSubject,
  maxCharacters: number,
  startedAt: number,
  visible: Promise<string>,
): Promise<EndedTask> {
  const receipt = await endedReceipt(subject);
  const { state } = subject;
  const file = await visible;
  const shown = await shownOutput(subject, maxCharacters, file).catch((error): ShownTaskOutput => {
    return { kind: 'merged', text: `[its output can't be read: ${messageOf(error)}]`, isCut: true };
  });
  return {
    outcome: receipt?.outcome ?? { kind: 'unknown' },
    durationMs: receipt?.durationMs ?? performance.now() - startedAt,
    shown,
    receipt,
    notice: state.kind === 'lost' ? `Lost: ${state.reason}` : undefined,
    file,
  };
}

async function shownOutput(
  subject: DetachedSubject,
  maxCharacters: number,
  file: string,
): Promise<ShownTaskOutput> {
  const { text, total } = await readOutput(subject, 0, maxCharacters * 4);
  const shown = firstCharacters(text, maxCharacters);
  const isCut = Buffer.byteLength(shown) < total;
  const gap = shown === '' || shown.endsWith('\n') ? '' : '\n';
  const missing = await subject.gap();
  const rest =
    missing === undefined
      ? `all of it: ${file}`
      : `${missing.bytes} of them after the first ${missing.at} are not kept; the rest: ${file}`;
  const note = `${gap}[output truncated: it has ${total} bytes; ${rest}]`;
  return { kind: 'merged', text: isCut ? `${shown}${note}` : shown, isCut };
}
