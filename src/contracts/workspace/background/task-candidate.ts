import { keepText, type OutputKeeper } from '../../../artifacts/keep-output.js';
import type { OutputChunk } from '../../../engine/outcome.js';
import type { Receipt } from '../../../receipt/receipt.js';
import { abortReason, onAbort } from '../../../support/abort.js';
import { messageOf } from '../../../support/errors.js';
import { settlesWithin } from '../../../support/timing.js';
import { CommandSubject } from '../../../tasks/command-subject.js';
import { taskLabel } from '../../../tasks/label.js';
import type { OutputPlace } from '../../../tasks/look/look.js';
import type { TaskManager } from '../../../tasks/manager.js';
import { hostOrder } from '../../../tasks/notify/ledger.js';
import type { TaskEnd } from '../../../tasks/status.js';
import { CallListeners, type LastUpdate } from '../../call-listeners.js';
import { TOOL, type ToolCall, type ToolResult } from '../../contract.js';
import { receiptOfError, ToolAbortError, toToolError } from '../../errors.js';
import { joinSections } from '../../notices.js';
import { newOutput } from '../../tasks/task-text.js';
import type { PreparedCommand } from '../input/prepare.js';
import { PREVIEW_BYTES, type RunContext, type WorkspaceSettings } from '../options.js';
import {
  asyncDetails,
  clampNotice,
  timeoutDetails,
  type WorkspaceDetails,
} from '../output/result.js';
import { startedText } from './job-text.js';

type CandidateAnswer = ToolResult<WorkspaceDetails>;

/** Starts a command, which ends when the signal is aborted. */
export type CandidateRun = (
  own: Required<Pick<RunContext, 'signal' | 'onOutput' | 'follower' | 'keeping'>>,
) => Promise<CandidateAnswer>;

/** A command that may become, or is, a task. */
class TaskCandidate {
  readonly answer: Promise<CandidateAnswer>;
  readonly #command: PreparedCommand;
  readonly #settings: WorkspaceSettings;
  readonly #controller = new AbortController();
  readonly #listeners: CallListeners<WorkspaceDetails>;
  readonly #startedAt = performance.now();
  readonly #subject: CommandSubject;
  #keeper: OutputKeeper | undefined;
  #taskId: string | undefined;
  /** The receipt of the ended command. */
  #receipt: Receipt | undefined;
  /** Stops listening to the call's signal. */
  readonly #letGo: () => void;

  constructor(
    command: PreparedCommand,
    call: ToolCall<WorkspaceDetails>,
    settings: WorkspaceSettings,
    run: CandidateRun,
  ) {
    this.#command = command;
    this.#settings = settings;
    this.#listeners = new CallListeners(call, { ...settings.updates, keepsTail: true });
    const { signal } = call;
    const abort = (): void => this.#controller.abort(signal && abortReason(signal));
    this.#letGo = signal === undefined ? () => {} : onAbort(signal, abort);
    const { takesInput, ownTerminal } = command;
    const { encoding } = settings;
    this.#subject = new CommandSubject({ takesInput, terminal: ownTerminal, encoding });
    const onOutput = (chunk: OutputChunk): void => {
      this.#subject.tell(chunk);
      // Updates about a terminal show its screen, not the escape sequences that draw it.
      if (ownTerminal === undefined) this.#listeners.tell(chunk);
      else this.#listeners.pass(chunk);
    };
    const keeping = (keeper: OutputKeeper): void => {
      this.#keeper = keeper;
      this.#subject.keptIn(keeper.spill(0)?.path);
    };
    const follower = this.#subject;
    this.answer = run({ signal: this.#controller.signal, onOutput, follower, keeping });
  }

  /** Waits for the end of the command. */
  async finish(): Promise<CandidateAnswer> {
    try {
      return await this.answer;
    } finally {
      this.#letGo();
      this.#listeners.stop();
      this.#subject.conclude(undefined);
    }
  }

  /**
   * Makes the command a task, which goes on independently of the call.
   *
   * @param afterMs The time that it has run, in milliseconds, if it was not started as a task.
   * @throws {TaskLimitError} The limit of jobs is reached.
   */
  async background(manager: TaskManager, afterMs?: number): Promise<CandidateAnswer> {
    const { timeout, notice } = this.#command;
    const ended = this.#end().then((end) => {
      this.#listeners.stop(this.#lastUpdate(end));
      return end;
    });
    const task = manager.add(
      {
        label: taskLabel(this.#command.command),
        subject: this.#subject,
        ended,
        tail: () => this.#listeners.tail,
        cancel: () => this.#controller.abort(),
        place: () => this.#place(),
        watches: this.#command.notify && hostOrder(this.#command.notify),
      },
      this.#startedAt,
    );
    this.#letGo();
    if (task.terminal !== undefined) task.answerTerminal(this.#listeners.show);
    this.#taskId = task.id;
    this.#listeners.answered({ async: asyncDetails(task.id, 'running') });
    const clamped = clampNotice(timeout, this.#settings.timeout);
    const started = startedText(task, afterMs);
    const printed = this.#subject.printed;
    const aim = { kind: 'end', upTo: printed } as const;
    const soFar = printed === 0 ? '' : (await newOutput(task, aim, PREVIEW_BYTES)).text;
    const text = joinSections(soFar, [clamped, notice], started);
    const details = { ...timeoutDetails(timeout), async: asyncDetails(task.id, 'running') };
    return { content: [{ type: 'text', text }], details };
  }

  /** Says where the output so far is; the file has its name from now on. */
  async #place(): Promise<OutputPlace | undefined> {
    const { path, id } = (await this.#keeper?.soFar()) ?? {};
    if (path === undefined) return undefined;
    this.#subject.keptIn(path);
    return { path, name: id === undefined ? path : `artifact://${id}` };
  }

  async #end(): Promise<TaskEnd> {
    try {
      const { content, details, isError } = await this.answer;
      this.#receipt = details.receipt;
      const text = content.map((part) => part.text).join('');
      return await this.#ended({ result: isError ? 'failed' : 'completed', text });
    } catch (reason) {
      const error = toToolError(reason, this.#controller.signal);
      this.#receipt = receiptOfError(error);
      const result = error instanceof ToolAbortError ? 'cancelled' : 'failed';
      return await this.#ended({ result, text: messageOf(error) });
    }
  }

  /** Keeps the answer, which the model is told only once, where it can be read again. */
  async #ended(end: TaskEnd): Promise<TaskEnd> {
    const receipt = this.#receipt;
    this.#subject.keptIn(receipt?.kept?.path);
    this.#subject.conclude(receipt);
    if (receipt?.kept?.artifactId !== undefined) {
      return { ...end, kept: `artifact://${receipt.kept.artifactId}` };
    }
    const { artifacts } = this.#settings;
    if (this.#taskId === undefined || artifacts === undefined) return end;
    const kept = await keepText(artifacts, TOOL, end.text);
    return kept.kind === 'kept' ? { ...end, kept: `artifact://${kept.artifact.id}` } : end;
  }

  #lastUpdate({ text, result }: TaskEnd): LastUpdate<WorkspaceDetails> | undefined {
    if (this.#taskId === undefined) return undefined;
    const receipt = this.#receipt && { receipt: this.#receipt };
    return { text, details: { async: asyncDetails(this.#taskId, result), ...receipt } };
  }
}

/**
 * Starts a command in the background.
 *
 * @throws {TaskLimitError} The limit of jobs is reached; nothing was started.
 */
export function runAsTask(
  manager: TaskManager,
  command: PreparedCommand,
  call: ToolCall<WorkspaceDetails>,
  settings: WorkspaceSettings,
  run: CandidateRun,
): Promise<CandidateAnswer> {
  manager.checkRoom();
  return new TaskCandidate(command, call, settings, run).background(manager);
}

/** Runs a command that goes on in the background when it takes longer than `afterMs`. */
export async function runUntilBackground(
  manager: TaskManager,
  afterMs: number,
  command: PreparedCommand,
  call: ToolCall<WorkspaceDetails>,
  settings: WorkspaceSettings,
  run: CandidateRun,
): Promise<CandidateAnswer> {
  const candidate = new TaskCandidate(command, call, settings, run);
  // In the last second before the timeout, the background would be of no use.
  const waitMs = Math.min(afterMs, command.timeout.seconds * 1000 - 1000);
  if (waitMs <= 0) return candidate.finish();
  const over = await settlesWithin(
    candidate.answer.catch(() => {}),
    waitMs,
  );
  // At the limit of tasks, the call goes on waiting.
  if (over || call.signal?.aborted || !manager.hasRoom()) return candidate.finish();
  return candidate.background(manager, waitMs);
}
