import { checkShellText } from '../../command/command-line.js';
import { commandEnvironment } from '../../command/run.js';
import type { Outcome } from '../../engine/outcome.js';
import { checkOptions } from '../../options/check.js';
import { namesOf, type OptionsOf } from '../../options/roads.js';
import { checkLiveOptions } from '../../options/values.js';
import type { SandboxOption } from '../../sandbox/policy.js';
import { isMissing, type OptionNames, readOptions, wholeFrom } from '../../support/checks.js';
import { absolutePath } from '../../support/paths.js';
import { inLaterTurn } from '../../support/timing.js';
import { checkDetachedNotify, type DetachedNotify } from '../notify/notify.js';
import type { SubjectState } from '../subject.js';
import { DetachedTask } from './detached-task.js';
import { type DetachedRecord, listDetached, type TaskPort } from './registry.js';
import { troubleIn } from './standing.js';
import { openDetached, startDetachedSubject } from './start.js';
import { announce } from './watches/runtimes.js';

/** Options for starting a command that outlives this process. Times in milliseconds, sizes in bytes. */
export type DetachOptions = Omit<OptionsOf<'detach'>, 'sandbox'> & {
  /** The most bytes of output that are kept; the rest is cut off. Default: 1 GiB. */
  readonly maxOutputBytes?: number | undefined;
  /** With 'pipe', `write()` feeds the command's stdin, from any process of the user. Default: 'null'. */
  readonly stdin?: 'null' | 'pipe' | undefined;
  /**
   * The paths and hosts that the command may write to, read and reach, as with `run()`. The command
   * shares its sandbox with the commands that this process runs with the same policy in the same
   * directory, and keeps it when this process ends; hosts that a policy allows are out of reach from then
   * on. Default: no sandbox.
   */
  readonly sandbox?: SandboxOption | undefined;
  /**
   * What the `TaskManager` with the name `to` tells its `onEvent`, each once, in whichever process it is
   * then. Default: nothing.
   */
  readonly notify?: DetachedNotify | undefined;
};

const NAMES: OptionNames<DetachOptions> = {
  ...namesOf('detach'),
  maxOutputBytes: true,
  stdin: true,
  notify: true,
};

/** A task's state, for a list. Times in milliseconds since 1970. */
export interface TaskSummary {
  /** The id for `attach()`. */
  readonly id: string;
  /** Always 'detached': the task outlives its host. */
  readonly lifetime: 'detached';
  /** The task's current state. */
  readonly state: SubjectState['kind'];
  /** The command's text, as it was given. */
  readonly command: string;
  /** The working directory at its start. */
  readonly cwd: string;
  /** Process id, also of its process group and session; 0: not known. */
  readonly pid: number;
  /** When the command began, in milliseconds since 1970. */
  readonly startedAt: number;
  /**
   * When the command itself ended, in milliseconds since 1970; absent while it runs, and when that is not
   * known.
   */
  readonly endedAt?: number;
  /** How the command ended; absent while it runs, and when that is not known. */
  readonly outcome?: Outcome;
  /** The file that has its output. */
  readonly outputFile: string;
  /** Whether it has an input that can be written to. */
  readonly hasInput: boolean;
  /** Whether it has a terminal, which `forkline attach` shows and types into. */
  readonly hasTerminal: boolean;
  /** The ports on which it listens in its sandbox, and the ways to them from here. Absent: none is published. */
  readonly ports?: readonly TaskPort[];
  /**
   * What could not be found out, and why: its keeper does not answer, or is of another version; its files
   * can't be read; its state is lost. Absent: all is known.
   */
  readonly trouble?: string;
}

/**
 * Lists the detached tasks of this user, by their start: the running ones, and those that ended in the
 * last week. Any process of the user may have started them, and may have exited since.
 *
 * @throws The user's directory in the system's temporary directory is open to other users.
 */
export async function listTasks(): Promise<readonly TaskSummary[]> {
  return (await listDetached()).map((record) => {
    const { id, state, command, cwd, pid, startedAt, outputFile, hasInput, terminal, ports } =
      record;
    return {
      id,
      lifetime: 'detached',
      state: state.kind,
      command,
      cwd,
      pid,
      startedAt,
      ...('endedAt' in state && { endedAt: state.endedAt }),
      ...('receipt' in state && state.receipt && { outcome: state.receipt.outcome }),
      outputFile,
      hasInput,
      hasTerminal: terminal !== undefined,
      ...(ports.length > 0 && { ports }),
      ...troubleOf(record),
    };
  });
}

function troubleOf({ trouble, state }: DetachedRecord): { readonly trouble?: string } {
  const reason = state.kind === 'lost' ? state.reason : troubleIn(state);
  const all = [reason, trouble].filter((one) => one !== undefined);
  return all.length > 0 ? { trouble: all.join('; ') } : {};
}

/**
 * Follows a detached task that any process of the user has started: its state, its output by a cursor,
 * its input, its end.
 *
 * @throws {InputError} There is no task with this id; or nothing can be told of it but its id, and the message says why:
 * its files are damaged, or of another version.
 */
export async function attach(id: string): Promise<DetachedTask> {
  return inLaterTurn(async () => new DetachedTask(await openDetached(id)));
}

const DEFAULT_GRACE_MS = 5000;
const DEFAULT_OUTPUT_BYTES = 1024 ** 3;

/**
 * Starts a command that goes on when this process ends, in whatever way. Its output goes to a file.
 *
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} The command could not be started.
 * @throws Error There is no place for its output.
 */
export function detach(command: string, given: DetachOptions = {}): Promise<DetachedTask> {
  return inLaterTurn(() => startDetached(command, given));
}

async function startDetached(command: string, given: DetachOptions): Promise<DetachedTask> {
  const { stdin, maxOutputBytes, notify: asked, ...options } = readOptions('options', given, NAMES);
  checkShellText(command);
  checkOptions(options);
  checkLiveOptions({ stdin, pty: options.pty });
  const notify = isMissing(asked) ? undefined : checkDetachedNotify(asked);
  const { timeoutMs, graceMs = DEFAULT_GRACE_MS, shell, sandbox, undo, pty } = options;
  const { priority, startsAtOnce, umask, onExec } = options;
  const subject = await startDetachedSubject(command, commandEnvironment(options), {
    cwd: absolutePath('cwd', options.cwd ?? '.'),
    timeoutMs,
    graceMs,
    shell,
    sandbox,
    undo,
    priority,
    startsAtOnce,
    umask,
    onExec,
    pty,
    outputQuota: wholeFrom('maxOutputBytes', 0, maxOutputBytes ?? DEFAULT_OUTPUT_BYTES),
    hasInput: stdin === 'pipe',
    completionLine: false,
    notify,
  });
  if (notify !== undefined) announce(subject, notify);
  return new DetachedTask(subject);
}
