import { OutputKeeper } from '../../../artifacts/keep-output.js';
import type { CommandFollower } from '../../../command/execute.js';
import type { Capture, OutputChunk, SeparateResult } from '../../../engine/outcome.js';
import type { CommandHandle } from '../../../engine/process.js';
import type { ExecuteOptions } from '../../../options/command-options.js';
import { abortReason, onAbort } from '../../../support/abort.js';
import { settlesWithin } from '../../../support/timing.js';
import { CommandSubject } from '../../../tasks/command-subject.js';
import type { TaskLook } from '../../../tasks/look/look.js';
import { TOOL, type ToolCall } from '../../contract.js';
import { skippedText } from '../../tasks/task-text.js';
import type { SessionSettings } from '../options.js';
import type { ShownStream } from '../output.js';
import type { CallTimeout, SessionDetails, ShownStreams } from '../result.js';
import { commandTask } from './command-task.js';
import { RecentStreams } from './recent-streams.js';
import type { SessionTasks } from './session-tasks.js';

/** Bytes of the output that are shown when a command goes on as a task. */
const SHOWN_BYTES = 4096;
/** Bytes of output that are kept only in memory: what is not shown is in a file. */
const MEMORY_BYTES = SHOWN_BYTES;

/** Starts the command of a call, with further options. */
export type StartInPlace = (
  own: Pick<ExecuteOptions, 'signal' | 'onOutput' | 'spill'>,
  follower?: CommandFollower,
) => Promise<SeparateResult>;

/** A command that may go on in the background. */
interface Candidate {
  readonly command: string;
  readonly environment: string;
  readonly timeout: CallTimeout;
  readonly onOutput: ExecuteOptions['onOutput'];
}

/** A command that goes on as a task. */
interface WentOn {
  readonly task: { readonly id: string; readonly status: 'running' };
  readonly afterMs: number;
  /** The end of its output so far. */
  readonly streams: ShownStreams;
  /** One line about the output before that. */
  readonly skipped: string | undefined;
}

/**
 * Runs a command. When it takes longer than `autoBackgroundMs`, it goes on as a task, unless the limit of
 * tasks is reached.
 *
 * @throws What `start` throws.
 */
export async function runOrGoOn(
  { settings, tasks }: { readonly settings: SessionSettings; readonly tasks: SessionTasks },
  { command, environment, timeout, onOutput }: Candidate,
  { signal }: ToolCall<SessionDetails>,
  start: StartInPlace,
): Promise<SeparateResult | WentOn> {
  const startedAt = performance.now();
  const own = new AbortController();
  const letGo = signal && onAbort(signal, () => own.abort(abortReason(signal)));
  const keeper = await OutputKeeper.open(settings.outputs, TOOL);
  // Most commands end soon, and need no file.
  const spill = keeper.spill(MEMORY_BYTES);
  const subject = new CommandSubject({
    takesInput: false,
    outputFile: spill?.path,
    encoding: settings.encoding,
  });
  let handle: CommandHandle | undefined;
  const follower: CommandFollower = {
    takesInput: false,
    started: (started) => {
      ({ handle } = started);
      subject.started(started);
    },
  };
  const recent = new RecentStreams();
  const told = (chunk: OutputChunk): unknown => {
    subject.tell(chunk);
    recent.push(chunk, subject.printed);
    return onOutput?.(chunk);
  };
  const running = start({ signal: own.signal, onOutput: told, spill }, follower);
  const { autoBackgroundMs = 0 } = settings;
  // In the last second before the timeout, the background would be of no use.
  const afterMs = Math.min(autoBackgroundMs, (timeout.milliseconds ?? Infinity) - 1000);
  const settled = running.then(
    () => {},
    () => {},
  );
  const isOver = afterMs <= 0 || (await settlesWithin(settled, afterMs));
  if (isOver || handle === undefined || signal?.aborted || !tasks.hasRoom()) {
    try {
      const ended = await running;
      await keeper.drop(ended.spill);
      return ended;
    } finally {
      letGo?.();
      subject.conclude(undefined);
      keeper.abandon();
    }
  }
  letGo?.();
  const candidate = { text: command, environment, subject, handle, result: running, keeper };
  const { task } = tasks.adopt(commandTask(candidate, settings, 'tool'), startedAt);
  const look = await task.look({ kind: 'end', upTo: subject.printed }, SHOWN_BYTES);
  const totals = await handle.snapshot();
  const streams = {
    stdout: endOfStream('stdout', look, recent, totals?.[0]),
    stderr: endOfStream('stderr', look, recent, totals?.[1]),
  };
  return { task: { id: task.id, status: 'running' }, afterMs, streams, skipped: skippedText(look) };
}

/** Shows what a look has of a stream. */
function endOfStream(
  name: 'stdout' | 'stderr',
  { parts }: TaskLook,
  recent: RecentStreams,
  whole: Capture | undefined,
): ShownStream {
  const texts = parts.map((part) =>
    part.kind === 'text' ? recent.between(name, part.from, part.to) : '',
  );
  const text = texts.join('');
  const characters = whole?.total.characters ?? [...text].length;
  return { text, characters, isCut: parts.some(({ kind }) => kind === 'skipped') };
}
