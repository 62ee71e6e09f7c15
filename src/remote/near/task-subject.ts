import type { BackgroundProcess } from '../../faces/engine.js';
import type { TerminalSize } from '../../faces/options.js';
import type {
  Awaited as AwaitedNews,
  OutputStretch,
  SubjectState,
  TaskEnd,
  TaskSubject,
  Until,
} from '../../faces/tasks.js';
import { WorkerLostError } from '../errors.js';
import type { Call } from '../wire/call.js';
import type {
  PlainUntil,
  SentStretch,
  TaskAnswer,
  TaskMessage,
  TaskQuestion,
  TaskStanding,
  ToldTask,
} from '../wire/protocol.js';
import { errorFrom } from '../wire/thrown.js';
import type { ToolLine } from './tool-line.js';

interface SubjectAnswer {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A task of a tool on the far side, for those that follow it on this side. */
export class FarSubject implements TaskSubject {
  readonly terminal: TerminalSize | undefined;
  readonly takesInput = undefined;
  readonly isElsewhere = true;
  /** Settles when the task's command has ended, or can no longer be asked. */
  readonly ended: Promise<TaskEnd>;
  readonly #call: Call;
  readonly #answers = new Map<number, SubjectAnswer>();
  readonly #watchers = new Set<() => void>();
  #lastQuestion = 0;
  #hasEnded = false;
  #standing: TaskStanding;
  #end: (end: TaskEnd) => void = () => {};

  constructor(session: ToolLine, { id, terminal }: ToldTask) {
    this.terminal = terminal ?? undefined;
    this.#standing = {
      state: { kind: 'running' },
      quietSince: Date.now(),
      outputFile: null,
      tail: '',
    };
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#call = session.follow(id, {
      message: (body) => this.#told(body as TaskMessage),
      // The task ends with its tool.
      ended: () => this.#lost('its tool was disposed of'),
      lost: (reason) => this.#lost(reason),
    });
  }

  get state(): SubjectState {
    return this.#standing.state;
  }

  get quietSince(): number {
    return this.#standing.quietSince;
  }

  get outputFile(): string | undefined {
    return this.#standing.outputFile ?? undefined;
  }

  get tail(): string {
    return this.#standing.tail;
  }

  watch(told: () => void): () => void {
    const watcher = (): void => told();
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  async read(since: number, maxBytes: number): Promise<OutputStretch> {
    const sent = (await this.#ask({ what: 'read', since, maxBytes })) as SentStretch;
    const { data, from, total } = sent;
    return { bytes: Buffer.from(data, 'base64'), from, total };
  }

  async members(): Promise<readonly BackgroundProcess[] | undefined> {
    const members = await this.#ask({ what: 'members' });
    return (members as readonly BackgroundProcess[] | null) ?? undefined;
  }

  async write(data: Uint8Array): Promise<void> {
    await this.#ask({ what: 'write', data: Buffer.from(data).toString('base64') });
  }

  closeInput(): void {
    this.#ask({ what: 'closeInput' }).catch(() => {});
  }

  async signal(signal: NodeJS.Signals): Promise<boolean> {
    return (await this.#ask({ what: 'signal', signal })) === true;
  }

  async end(graceMs?: number): Promise<void> {
    await this.#ask({ what: 'end', graceMs: graceMs ?? null });
  }

  /** Waits on the far side, where the task's ports and processes are. */
  async wait(until: Until, since: number, signal: AbortSignal | undefined): Promise<AwaitedNews> {
    const waiting = this.#ask({ what: 'wait', until: plainUntil(until), since });
    const wait = this.#lastQuestion;
    const stop = (): void => void this.#ask({ what: 'stopWaiting', wait }).catch(() => {});
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const news = (await waiting) as AwaitedNews;
      // The pattern is the caller's own object.
      const { line } = until;
      return news.kind === 'line' && line != null ? { ...news, pattern: line } : news;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  #ask(question: TaskQuestion): Promise<unknown> {
    if (this.#call.isOver) return Promise.reject(gone('it cannot be asked any more'));
    this.#lastQuestion += 1;
    const ask = this.#lastQuestion;
    return new Promise((resolve, reject) => {
      this.#answers.set(ask, { resolve, reject });
      this.#weigh();
      this.#call.send({ ask, ...question });
    });
  }

  #told(message: TaskMessage): void {
    if ('standing' in message) this.#become(message.standing);
    else if ('ended' in message) this.#ended(message.ended);
    else this.#answered(message);
  }

  #answered(message: TaskAnswer): void {
    const answer = this.#answers.get(message.answer);
    this.#answers.delete(message.answer);
    this.#weigh();
    if ('error' in message) answer?.reject(errorFrom(message.error));
    else answer?.resolve(message.value);
  }

  #ended(end: TaskEnd): void {
    this.#hasEnded = true;
    this.#weigh();
    this.#end(end);
  }

  /**
   * Keeps this process alive while the command runs, as a local one would, or an answer is awaited.
   */
  #weigh(): void {
    this.#call.hold(!this.#hasEnded || this.#answers.size > 0);
  }

  #become(standing: TaskStanding): void {
    this.#standing = standing;
    for (const watcher of this.#watchers) watcher();
  }

  #lost(reason: string): void {
    for (const answer of this.#answers.values()) answer.reject(gone(reason));
    this.#answers.clear();
    const { kind } = this.state;
    if (kind === 'ended' || kind === 'lost') return;
    this.#end({ result: 'failed', text: `[lost: ${reason}]` });
    this.#become({ ...this.#standing, state: { kind: 'lost', reason } });
  }
}

function plainUntil({ line, ...until }: Until): PlainUntil {
  if (line == null) return until;
  return { ...until, line: line instanceof RegExp ? [line.source, line.flags] : line };
}

function gone(reason: string): Error {
  return new WorkerLostError(reason, { started: true, output: '' });
}
