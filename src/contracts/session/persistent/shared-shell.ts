import type { RunResult } from '../../../engine/outcome.js';
import {
  PersistentShell,
  type ShellAnswer,
  type ShellCall,
} from '../../../persistent-shell/shell.js';
import { SandboxPlace } from '../../../persistent-shell/shell-sandbox.js';
import { isWatched, traceCommand } from '../../../receipt/trace.js';
import { throwIfAborted } from '../../../support/abort.js';
import { ExclusiveQueue } from '../../../support/mutex.js';
import { performCommand } from '../../call.js';
import type { ToolCall, ToolResult } from '../../contract.js';
import { ToolAbortError, ToolError } from '../../errors.js';
import { CANCELLED } from '../../notices.js';
import { type CallMoment, shellEnvironment } from '../../options.js';
import type { Place } from '../directory.js';
import { streamLimits } from '../output.js';
import type { SessionDetails } from '../result.js';
import { timeoutFor } from '../result.js';
import type { SessionInput } from '../schema.js';
import { inPlace, type Session } from '../session.js';
import { answerOf, type RanCall, resultOf } from './answer.js';
import {
  betweenNotice,
  cancelledNotice,
  neverReady,
  notOpened,
  restartedResult,
  restartNotice,
} from './told.js';

/** So many are tried before it is the text, or what is around it, that no shell begins with. */
const MOST_SHELLS = 3;

/** The shell that the calls of a session share, one after the other. */
export class SharedShell {
  readonly #session: Session;
  readonly #queue = new ExclusiveQueue();
  readonly #place: SandboxPlace;
  #shell: PersistentShell | undefined;
  /** The last one was ended with a call that was cancelled. */
  #wasCancelled = false;

  constructor(session: Session) {
    this.#session = session;
    this.#place = new SandboxPlace(session.settings.sandbox);
  }

  /**
   * Runs a command in it when its turn has come, or gives the session another shell, or both.
   *
   * @param checkStart Throws if it may not begin any more.
   * @throws {ToolError} The session's directory cannot be used, or no shell could be started.
   * @throws {ToolAbortError} It was cancelled.
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

  /** The session for what runs beside its shells: in the sandbox that they are in, if there is one. */
  async beside(): Promise<Session> {
    const { settings } = this.#session;
    const { sandbox } = await this.#place.find();
    return { ...this.#session, settings: { ...settings, sandbox } };
  }

  /** Settles when nothing is left of a shell whose owner has been disposed of. */
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
   * Has the shell run it; another one, if it turns out to be gone and has not begun.
   *
   * @param notices Gets what there is to say of that.
   */
  async #perform(call: ShellCall, moment: CallMoment, notices: string[]): Promise<RanCall> {
    for (let shells = 1; ; shells += 1) {
      const gone = this.#shell?.end;
      if (gone !== undefined) notices.push(await this.#lose(gone));
      const from = await this.#session.directory.here();
      this.#shell ??= await inPlace(this.#session, from, () => this.#start(from, moment));
      const shell = this.#shell;
      if (call.signal) throwIfAborted(call.signal);
      // It may have ended meanwhile; what it had is cleared away then.
      if (shell.end !== undefined) {
        if (shell.isReady) continue;
        this.#shell = undefined;
        // Who has disposed of the tool has ended it.
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
      limits,
      owner,
    });
  }

  /** It has ended while it had nothing to run; what is to be said of that. */
  async #lose(gone: RunResult): Promise<string> {
    this.#shell = undefined;
    await this.#follow(gone);
    return betweenNotice(gone, this.#session.directory.path);
  }

  /** Ends the shell, and stays where it was. */
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

/** Runs it in sight of those who watch commands. */
function traced(call: ShellCall, cwd: string, shell: PersistentShell): Promise<ShellAnswer> {
  if (!isWatched()) return shell.run(call);
  const { text: command, timeoutMs } = call;
  return traceCommand({ command, cwd, timeoutMs, detached: false }, (ended) => {
    const running = shell.run(call);
    ended(running.then((answer) => resultOf(shell, answer, command, timeoutMs)));
    return running;
  });
}
