import { type KeptOutput, keepText, type OutputKeeper } from '../../../artifacts/keep-output.js';
import type { RunResult } from '../../../engine/outcome.js';
import type { CommandHandle } from '../../../engine/process.js';
import type { CommandSubject } from '../../../tasks/command-subject.js';
import { taskLabel } from '../../../tasks/label.js';
import type { OutputPlace } from '../../../tasks/look/look.js';
import { type TaskEnd, taskResult } from '../../../tasks/status.js';
import { TOOL } from '../../contract.js';
import type { SessionSettings } from '../options.js';
import { showStream } from '../output.js';
import { sessionReceipt, shownStreams } from '../result.js';
import type { EndedTask, ShownTaskOutput, StartedTask } from './session-tasks.js';
import { type ShownEnd, shownTerminal } from './terminal-end.js';

/** A command of this host that runs. */
interface RunningCommand {
  readonly text: string;
  /** The environment block. */
  readonly environment: string;
  readonly subject: CommandSubject;
  readonly handle: CommandHandle;
  readonly result: Promise<RunResult>;
  readonly keeper: OutputKeeper;
}

/** Makes a task of a command that ends with its tool, or with the host. */
export function commandTask(
  running: RunningCommand,
  settings: Pick<SessionSettings, 'maxCharacters' | 'outputs'>,
  lifetime: 'tool' | 'host',
): StartedTask {
  const { text, subject, handle } = running;
  const ended = endOf(running, settings);
  return {
    work: {
      label: taskLabel(text),
      subject,
      ended: ended.then(taskEnd),
      tail: () => '',
      cancel: () => handle.cancel(),
      place: () => placeSoFar(running),
      lifetime,
    },
    ended,
    outputSoFar: () => outputSoFar(handle, settings),
  };
}

/** Says where the output so far is; the file has its name from now on. */
async function placeSoFar({ subject, keeper }: RunningCommand): Promise<OutputPlace | undefined> {
  const { path } = (await keeper.soFar()) ?? {};
  if (path === undefined) return undefined;
  subject.keptIn(path);
  return { path, name: path };
}

async function endOf(
  { subject, result, environment, keeper }: RunningCommand,
  { maxCharacters, outputs }: Pick<SessionSettings, 'maxCharacters' | 'outputs'>,
): Promise<EndedTask> {
  const end = await result;
  const inFile = await keeper.finish(end.spill);
  const kept = inFile.kind === 'none' ? await keepShort(end, outputs) : inFile;
  const { terminal } = subject;
  const { shown, receipt } =
    'output' in end && terminal !== undefined
      ? await shownTerminal(end, terminal, maxCharacters, environment, kept)
      : await shownEnd(end, maxCharacters, environment, kept);
  const file = kept.kind === 'kept' ? kept.artifact.path : undefined;
  subject.keptIn(file);
  subject.conclude(receipt);
  const { outcome, durationMs } = end;
  return { outcome, durationMs, shown, receipt, file };
}

async function shownEnd(
  end: RunResult,
  maxCharacters: number,
  environment: string,
  kept: KeptOutput,
): Promise<ShownEnd> {
  const streams = shownStreams(end, maxCharacters);
  const receipt = await sessionReceipt(end, streams, environment, {}, kept);
  return { shown: { kind: 'streams', streams }, receipt };
}

/** Keeps an output that was too short for a file: its answer is given once, a file can be read again. */
async function keepShort(end: RunResult, outputs: SessionSettings['outputs']): Promise<KeptOutput> {
  const captures = 'output' in end ? [end.output] : [end.stdout, end.stderr];
  const texts = captures.map((capture) => (capture.kind === 'complete' ? capture.text : undefined));
  const text = texts.join('');
  if (texts.includes(undefined) || text === '') return { kind: 'none' };
  return keepText(outputs, TOOL, text);
}

async function outputSoFar(
  handle: CommandHandle,
  { maxCharacters }: Pick<SessionSettings, 'maxCharacters'>,
): Promise<ShownTaskOutput | undefined> {
  const [stdout, stderr] = (await handle.snapshot()) ?? [];
  if (stdout === undefined || stderr === undefined) return undefined;
  const streams = {
    stdout: showStream('stdout', stdout, maxCharacters),
    stderr: showStream('stderr', stderr, maxCharacters),
  };
  return { kind: 'streams', streams };
}

/** Converts the end of a task for a runtime. */
export function taskEnd({ outcome, shown, file }: EndedTask): TaskEnd {
  const text =
    shown.kind === 'merged' ? shown.text : shown.streams.stdout.text + shown.streams.stderr.text;
  return { result: taskResult(outcome), text, kept: file };
}
