import { inCallersContext } from '../../../engine/caller.js';
import type { ExecRequest, OnExec } from '../../../engine/exec/exec-request.js';
import type { RunResult } from '../../../engine/outcome.js';
import {
  PersistentShell,
  type ShellAnswer,
  type ShellCall,
} from '../../../persistent-shell/shell.js';
import { SandboxPlace } from '../../../persistent-shell/shell-sandbox.js';
import { isTraced } from '../../../receipt/channel.js';
import { traceCommand } from '../../../receipt/trace.js';
import { throwIfAborted } from '../../../support/abort.js';
import { ExclusiveQueue } from '../../../support/mutex.js';
import { performCommand } from '../../call.js';
import type { ToolCall, ToolResult } from '../../contract.js';
import { CANCELLED, ToolAbortError, ToolError } from '../../errors.js';
import { type CallMoment, shellEnvironment } from '../../options.js';
import { streamLimits } from '../output.js';
import type { SessionDetails } from '../result.js';
import { timeoutFor } from '../result.js';
import type { SessionInput } from '../schema.js';
import { inPlace, type Place, type Session, showingOutputs } from '../session.js';
import { answerOf, factsOf, type RanCall, resultOf } from './answer.js';
import {
  betweenNotice,
  cancelledNotice,
  neverReady,
  notOpened,
  restartedResult,
  restartNotice,
} from './told.js';

/** Shells that are tried for a call: when none of them begins, the cause is the text or its surroundings. */
const MOST_SHELLS = 3;

/** The shell that the calls of a session use one after another. */
export class SharedShell {
  readonly #session: Session;
  readonly #queue = new ExclusiveQueue();
  readonly #place: SandboxPlace;
  #shell: PersistentShell | undefined;
  /** Answers whether a program may be executed, in the context of the last call. */
  #onExec: OnExec | undefined;
  /** Whether the last shell was ended by the cancellation of a call. */
  #wasCancelled = false;

  constructor(session: Session) {
    this.#session = session;
    this.#place = new SandboxPlace(session.settings.sandbox, async () => {
      const { settings } = await showingOutputs(session);
      return settings.sandbox;
    });
  }

  /**
   * Runs a command in the shell when its turn has come, or restarts the shell, or both.
   *
   * @param checkStart Throws if the call may not begin any more.
   * @throws {ToolError} The session's directory cannot be used, or no shell could be started.
   * @throws {PipesError} The pipes of the shell could not be made.
   * @throws {ToolAbortError} The call was cancelled.
   * @throws {LaunchError} No shell could be started.
   */
  run(
    input: SessionInput,
    call: ToolCall<SessionDetails>,
    moment: CallMoment,
    checkStart: () => void,
  ): Promise<ToolResult<SessionDetails>> {
    return this.#queue.run(async () => {
      checkStart();
      const told = this.#wasCancelled ? [cancelledNotice(this.#session.directory.path)] : [];
      this.#wasCancelled = false;
      if (!input.restart) return this.#answer(input, call, moment, told);
      await this.#leave();
      const notice = restartNotice(this.#session.directory.path);
      if (input.command === undefined) return restartedResult(this.#session.directory.path, notice);
      return this.#answer(input, call, moment, [notice]);
    }, call.signal);
  }

  /** Returns the session for commands beside the shell, which run in the shell's sandbox if there is one. */
  async beside(): Promise<Session> {
    const { settings } = this.#session;
    const { sandbox } = await this.#place.find();
    return { ...this.#session, settings: { ...settings, sandbox } };
  }

  /** Settles when the shell has ended, after its owner was disposed of, and its pipes are removed. */
  async settled(): Promise<void> {
    await this.#shell?.ended;
    await this.#place.leave();
  }

  async #answer(
    { command: text = '', timeout: asked }: SessionInput,
    call: ToolCall<SessionDetails>,
    moment: CallMoment,
    notices: string[],
  ): Promise<ToolResult<SessionDetails>> {
    const { settings } = this.#session;
    const timeout = timeoutFor(asked ?? settings.timeoutMs, settings);
    const { milliseconds: timeoutMs = settings.timeoutMs } = timeout;
    const { signal } = call;
    const { encoding } = settings;
    const limits = streamLimits(settings.maxCharacters);
    const { path: cwd } = this.#session.directory;
    const ran = await performCommand({ call, cwd }, (onOutput) => {
      const asked = { text, timeoutMs, signal, onOutput, limits, encoding };
      return this.#perform(asked, moment, notices);
    });
    return answerOf(this.#session, ran, text, timeout, notices);
  }

  /**
   * Runs a call in the shell; or in a new one, if the shell has ended before it began with the call.
   *
   * @param notices Receives a line about each shell that has ended.
   */
  async #perform(call: ShellCall, moment: CallMoment, notices: string[]): Promise<RanCall> {
    const { onExec } = this.#session.settings;
    this.#onExec = onExec && inCallersContext(onExec, undefined);
    for (let shells = 1; ; shells += 1) {
      const gone = this.#shell?.end;
      if (gone !== undefined) notices.push(await this.#lose(gone));
      const from = await this.#session.directory.here();
      this.#shell ??= await inPlace(this.#session, from, () => this.#start(from, moment));
      const shell = this.#shell;
      if (call.signal) throwIfAborted(call.signal);
      // The shell may have ended meanwhile, and its pipes with it.
      if (shell.end !== undefined) {
        if (shell.isReady) continue;
        this.#shell = undefined;
        // The disposal of the tool has ended the shell.
        if (this.#session.owner.isDisposed) throw new ToolAbortError(CANCELLED);
        throw new ToolError('launch', neverReady(shell.end));
      }
      const answer = await traced(call, from.path, shell);
      const { end, hasBegun } = answer;
      if (end.kind === 'reported') {
        if (hasBegun) return { shell, answer, from };
        await this.#leave();
        throw new ToolError('launch', notOpened(this.#session.directory.path));
      }
      this.#shell = undefined;
      this.#wasCancelled = end.reason === 'cancelled';
      const isOurs = end.reason !== undefined || this.#session.owner.isDisposed;
      if (hasBegun || isOurs) return { shell, answer, from };
      if (!shell.isReady || shells === MOST_SHELLS) {
        throw new ToolError('launch', neverReady(end.shell));
      }
      notices.push(await this.#lose(end.shell));
    }
  }

  async #start(from: Place, moment: CallMoment): Promise<PersistentShell> {
    const { settings, owner } = this.#session;
    const { shell, graceMs, priority, umask, limits } = settings;
    const { sandbox, pipes } = await this.#place.find();
    const environment = shellEnvironment(from.path, settings, moment);
    return PersistentShell.start({
      cwd: from.path,
      environment,
      shell,
      graceMs,
      priority,
      umask,
      sandbox,
      pipes,
      onExec: settings.onExec && ((request) => this.#ask(request)),
      limits,
      owner,
    });
  }

  /** Asks in the context of the call that runs, or of the last one. */
  #ask(request: ExecRequest): ReturnType<OnExec> {
    return this.#onExec?.(request) ?? 'deny';
  }

  /** Drops a shell that has ended between calls. Returns a line about it. */
  async #lose(gone: RunResult): Promise<string> {
    this.#shell = undefined;
    await this.#follow(gone);
    return betweenNotice(gone, this.#session.directory.path);
  }

  /** Ends the shell. The session stays in the shell's directory. */
  async #leave(): Promise<void> {
    const shell = this.#shell;
    this.#shell = undefined;
    if (shell === undefined) return;
    await shell.stop();
    await this.#follow(await shell.ended);
  }

  async #follow({ directory: end }: RunResult): Promise<void> {
    const { directory } = this.#session;
    await directory.follow(await directory.here(), end);
  }
}

/** Runs a call, and publishes it to the tracing channel if there are subscribers. */
function traced(call: ShellCall, cwd: string, shell: PersistentShell): Promise<ShellAnswer> {
  if (!isTraced()) return shell.run(call);
  const { text: command, timeoutMs } = call;
  return traceCommand({ command, cwd, timeoutMs, detached: false }, (ended) => {
    const running = shell.run(call);
    ended(
      running.then((answer) => resultOf(shell, answer, command, timeoutMs)),
      async () => ({ environment: shell.environment, ...factsOf(await running) }),
    );
    return running;
  });
}
