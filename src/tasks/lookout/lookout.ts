import type { BackgroundProcess } from '../../engine/outcome.js';
import type { ListeningPort } from '../../receipt/ports.js';
import type { Receipt } from '../../receipt/receipt.js';
import type { SubjectState, TaskSubject } from '../subject.js';
import { type FoundLine, type LinePattern, LineSearch } from './lines.js';
import { PortWatch } from './ports.js';
import { type InputWait, inputWaitOf } from './stdin-wait.js';
import { stoppedOf } from './stopped.js';

/** The events to look for, besides the end. */
export interface LookoutConditions {
  /** Lines of its output. */
  readonly lines?: readonly LinePattern[] | undefined;
  /** Whether to look for ports on which its own processes begin to listen. */
  readonly ports?: boolean | undefined;
  /** The time without output, in milliseconds, that counts as silence. */
  readonly silentMs?: number | undefined;
}

/** An event of a task. */
export type TaskNews =
  | ({ readonly kind: 'line' } & FoundLine)
  | ({ readonly kind: 'listening' } & ListeningPort)
  /** The command prints nothing, perhaps at a prompt. */
  | {
      readonly kind: 'silent';
      /** The time without output so far, in milliseconds. */
      readonly forMs: number;
      /** The input that a process was seen to wait for; undefined: none was, or that is not shown. */
      readonly waitsFor: InputWait | undefined;
      /** Processes that are stopped, which SIGCONT lets go on; absent: there are none. */
      readonly stopped?: readonly BackgroundProcess[];
    }
  /**
   * The command itself has ended; `running` of its processes still run. Without a receipt it was never
   * started.
   */
  | { readonly kind: 'ended'; readonly receipt: Receipt | undefined; readonly running: number }
  /** No process of the command is left, according to the kernel. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'lost'; readonly reason: string };

/**
 * The intervals between looks for ports, in milliseconds: short at first, then longer, since each look
 * reads `/proc`.
 */
const FIRST_PORT_LOOK_MS = 100;
const LAST_PORT_LOOK_MS = 2000;
const READ_BYTES = 64 * 1024;
/** The output that one look examines: a command may print faster than it is read. */
const LOOK_BYTES = 8 * 1024 * 1024;

/** Finds the events of one task. Each event is returned once. */
export class Lookout {
  readonly #subject: TaskSubject;
  readonly #search: LineSearch | undefined;
  readonly #ports: PortWatch | undefined;
  readonly #silentMs: number | undefined;
  #position: number;
  /** Whether there is output that the last look did not come to. */
  #isBehind = false;
  #state: SubjectState['kind'] = 'running';
  #portLookMs = FIRST_PORT_LOOK_MS;
  #portLookAt = 0;
  /** Silence counts from here at the earliest. */
  readonly #begunAt = Date.now();
  /** The silence that was reported last, by its beginning. */
  #toldSilence: number | undefined;

  /** @param since Position of the output from which on lines count. */
  constructor(subject: TaskSubject, conditions: LookoutConditions, since: number) {
    const { lines, ports, silentMs } = conditions;
    this.#subject = subject;
    this.#search =
      lines === undefined || lines.length === 0 ? undefined : new LineSearch(lines, since);
    this.#ports = ports ? new PortWatch() : undefined;
    this.#silentMs = silentMs;
    this.#position = since;
  }

  /** Returns the events since the last look, oldest first. */
  async look(): Promise<TaskNews[]> {
    // Read first, so that output before the end comes before the end.
    const { state } = this.#subject;
    const lines = await this.#lines();
    const ports = await this.#newPorts(state);
    if (this.#isBehind) return [...lines, ...ports];
    const silence = await this.#silence(state);
    return [...lines, ...ports, ...silence, ...this.#ends(state)];
  }

  /** Returns when to look next if no change is reported, in milliseconds from now; undefined: never. */
  nextLookMs(): number | undefined {
    if (this.#isBehind) return 0;
    if (this.#state === 'ended' || this.#state === 'lost') return undefined;
    const dues: number[] = [];
    if (this.#ports !== undefined) dues.push(this.#portLookAt - Date.now());
    if (this.#silentMs !== undefined && this.#state === 'running') {
      const since = this.#quietSince();
      if (this.#toldSilence !== since) dues.push(since + this.#silentMs - Date.now());
    }
    return dues.length === 0 ? undefined : Math.max(0, Math.min(...dues));
  }

  async #lines(): Promise<TaskNews[]> {
    const news: TaskNews[] = [];
    if (this.#search === undefined) return news;
    for (let examined = 0; examined < LOOK_BYTES; ) {
      const { bytes, from } = await this.#subject.read(this.#position, READ_BYTES);
      this.#isBehind = bytes.length > 0;
      if (!this.#isBehind) return news;
      if (from > this.#position) this.#search.gap(from);
      this.#position = from + bytes.length;
      examined += bytes.length;
      for (const found of this.#search.push(bytes)) news.push({ kind: 'line', ...found });
    }
    return news;
  }

  async #newPorts({ kind }: SubjectState): Promise<TaskNews[]> {
    if (this.#ports === undefined || Date.now() < this.#portLookAt) return [];
    if (kind === 'ended' || kind === 'lost') return [];
    const ports = await this.#ports.look(this.#subject);
    // A process that has just opened a port may open another.
    this.#portLookMs =
      ports.length > 0 ? FIRST_PORT_LOOK_MS : Math.min(this.#portLookMs * 1.5, LAST_PORT_LOOK_MS);
    this.#portLookAt = Date.now() + this.#portLookMs;
    return ports.map((port) => ({ kind: 'listening', ...port }));
  }

  async #silence({ kind }: SubjectState): Promise<TaskNews[]> {
    if (this.#silentMs === undefined || kind !== 'running') return [];
    const since = this.#quietSince();
    const forMs = Date.now() - since;
    if (forMs < this.#silentMs || this.#toldSilence === since) return [];
    this.#toldSilence = since;
    const waitsFor = await inputWaitOf(this.#subject);
    const stopped = await stoppedOf((await this.#subject.members()) ?? []);
    // Output came meanwhile, so the command was not silent.
    if (this.#quietSince() !== since) return [];
    return [{ kind: 'silent', forMs, waitsFor, ...(stopped.length > 0 && { stopped }) }];
  }

  #quietSince(): number {
    return Math.max(this.#subject.quietSince, this.#begunAt);
  }

  #ends(state: SubjectState): TaskNews[] {
    const before = this.#state;
    this.#state = state.kind;
    if (before === state.kind) return [];
    switch (state.kind) {
      case 'running':
        return [];
      case 'left':
        return [endedNews(state.receipt)];
      case 'ended':
        if (before === 'left') return [{ kind: 'gone' }];
        return [{ ...endedNews(state.receipt), running: 0 }, { kind: 'gone' }];
      case 'lost':
        return [{ kind: 'lost', reason: state.reason }];
    }
  }
}

function endedNews(receipt: Receipt | undefined): TaskNews & { readonly kind: 'ended' } {
  return { kind: 'ended', receipt, running: receipt?.background.length ?? 0 };
}
