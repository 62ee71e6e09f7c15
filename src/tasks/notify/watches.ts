import { isMissing } from '../../support/checks.js';
import { Lookout, type TaskNews } from '../lookout/lookout.js';
import type { TaskSubject } from '../subject.js';
import type { Awaited, Until } from '../wait.js';
import type { Ledger, WatchOrder } from './ledger.js';
import { LineWatch, matchesLine } from './line-watch.js';
import { type Notify, type WatchName, watchesOf } from './notify.js';
import { closedBy, isEnd, type Marks, markIn, type ToldNews } from './told-news.js';

/**
 * The watches of one task: each is told once, by the events of the task or by the answer of a tool that has
 * waited for the same. While a tool waits for what a watch has found, the watch is held back: the tool's
 * answer comes first.
 */
export class Watches {
  readonly #notify: Notify;
  readonly #ledger: Ledger;
  /** Watches that were neither told nor have become impossible. */
  readonly #open: Set<WatchName>;
  readonly #lines: LineWatch | undefined;
  readonly #lookouts: Partial<Record<'port' | 'silent', Lookout>> = {};
  /** Events that watches have found, not told yet. */
  readonly #found = new Map<WatchName, TaskNews>();
  /** Watches that an end has made impossible, not told yet. */
  readonly #missed = new Map<WatchName, TaskNews>();
  /** The waits of tools at the moment. */
  readonly #waits = new Set<Until>();
  /** Whether a tool's answer has told the end. */
  #isEndTold = false;
  /** Called when something that was held back may be due. */
  onChange = (): void => {};

  /** @param hearsPorts Whether the news that are passed to `note()` have all ports. */
  constructor(subject: TaskSubject, order: WatchOrder, hearsPorts: boolean) {
    const { notify, ledger, told = [], since = 0 } = order;
    const { line, silentMs } = notify;
    this.#notify = notify;
    this.#ledger = ledger;
    this.#open = new Set(watchesOf(notify).filter((name) => !told.includes(name)));
    if (!isMissing(line) && this.#open.has('line')) {
      this.#lines = new LineWatch(subject, line, since, ledger);
    }
    if (this.#open.has('port') && !hearsPorts) {
      this.#lookouts.port = new Lookout(subject, { ports: true }, since);
    }
    if (!isMissing(silentMs) && this.#open.has('silent')) {
      this.#lookouts.silent = new Lookout(subject, { silentMs }, since);
    }
  }

  /** Whether nothing is left to be told. */
  get isOver(): boolean {
    return this.#open.size === 0;
  }

  /** Whether something was found that is held back. */
  get isHeld(): boolean {
    return this.#found.size + this.#missed.size > 0;
  }

  /** Looks for what has come true since the last look. */
  async look(): Promise<void> {
    if (this.#isSought('line')) {
      const line = await this.#lines?.look();
      if (line !== undefined) this.#find('line', { kind: 'line', ...line });
    }
    for (const name of ['port', 'silent'] as const) {
      if (!this.#isSought(name)) continue;
      const news = (await this.#lookouts[name]?.look()) ?? [];
      this.#take(name, news);
    }
  }

  /** When to look next if no change is reported, in milliseconds from now; undefined: never. */
  nextLookMs(): number | undefined {
    const dues = (['port', 'silent'] as const).flatMap((name) => {
      return this.#isSought(name) ? (this.#lookouts[name]?.nextLookMs() ?? []) : [];
    });
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  /** Takes note of what the task's own events say of the watches. */
  async note(news: readonly TaskNews[]): Promise<void> {
    this.#take('port', news);
    const ends = news.filter(isEnd);
    // Output before the end may have come after the look before.
    if (ends.length > 0) await this.look();
    for (const end of ends) this.#end(end);
  }

  /**
   * Marks what answers a watch among the events of the task, and adds what is not among them. All that it
   * returns must be told now.
   */
  async mark(news: readonly TaskNews[]): Promise<readonly ToldNews[]> {
    const found = [...this.#found].filter(([, one]) => !this.#isHeld(one));
    const missed = [...this.#missed].filter(([, end]) => !this.#isHeld(end));
    const due = [...found, ...missed].map(([name]) => name);
    if (due.length === 0) return news;
    for (const name of due) this.#close(name);
    const fresh = new Set(await this.#ledger.claim(due));
    const marks = new Map<TaskNews, Marks>();
    for (const [name, one] of found) {
      const isKnown = this.#isEndTold && name === 'ended';
      if (fresh.has(name) && !isKnown) marks.set(one, { watch: name });
    }
    for (const [name, end] of missed) {
      if (!fresh.has(name) || (this.#isEndTold && end.kind === 'ended')) continue;
      const { unmet = [], ...mark } = marks.get(end) ?? {};
      marks.set(end, { ...mark, unmet: [...unmet, name] });
    }
    return [...marks].reduce((all, [one, mark]) => markIn(all, one, mark), news);
  }

  /**
   * Notes that a tool waits for something.
   *
   * @returns To be called with what the tool tells; undefined: nothing.
   */
  awaiting(until: Until): (told: Awaited | undefined) => void {
    const wait = { ...until };
    this.#waits.add(wait);
    return (told) => {
      this.#waits.delete(wait);
      if (told !== undefined) this.#toldByTool(told);
      this.onChange();
    };
  }

  /** Notes that a tool's answer tells the end of the command. */
  endTold(): void {
    this.#isEndTold = true;
    if (this.#open.has('ended')) this.#toldElsewhere('ended');
  }

  /** Leaves what is not told yet to another host, if one can tell it. */
  leave(): void {
    if (!this.#ledger.isShared) return;
    for (const name of [...this.#open]) this.#close(name);
  }

  #isSought(name: WatchName): boolean {
    return this.#open.has(name) && !this.#found.has(name) && !this.#missed.has(name);
  }

  #find(name: WatchName, news: TaskNews): void {
    if (this.#isSought(name)) this.#found.set(name, news);
  }

  #take(name: 'port' | 'silent', news: readonly TaskNews[]): void {
    const met = news.find((one) => this.#answers(name, one));
    if (met !== undefined) this.#find(name, met);
  }

  #end(end: TaskNews): void {
    if (end.kind === 'ended' && this.#isSought('ended')) this.#found.set('ended', end);
    for (const name of closedBy(end)) if (this.#isSought(name)) this.#missed.set(name, end);
  }

  /** Whether a tool that waits now is going to tell this. */
  #isHeld(news: TaskNews): boolean {
    return [...this.#waits].some((until) => mayEnd(until, news));
  }

  #toldByTool(told: Awaited): void {
    if (told.kind === 'time') return;
    if (told.kind === 'ended') this.endTold();
    for (const name of ['line', 'port', 'silent'] as const) {
      if (this.#open.has(name) && this.#answers(name, told)) this.#toldElsewhere(name);
    }
  }

  #toldElsewhere(name: WatchName): void {
    this.#close(name);
    void this.#ledger.claim([name]);
  }

  #close(name: WatchName): void {
    this.#open.delete(name);
    this.#found.delete(name);
    this.#missed.delete(name);
  }

  #answers(name: WatchName, news: TaskNews): boolean {
    const { line, port, silentMs } = this.#notify;
    switch (news.kind) {
      case 'line':
        return name === 'line' && !isMissing(line) && matchesLine(news.line, line);
      case 'listening':
        return name === 'port' && (port === true || port === news.port);
      case 'silent':
        return name === 'silent' && !isMissing(silentMs) && news.forMs >= silentMs;
      default:
        return false;
    }
  }
}

/** Returns whether a wait ends by this. */
function mayEnd({ line, port, silentMs, gone }: Until, news: TaskNews): boolean {
  switch (news.kind) {
    case 'line':
      return !isMissing(line) && matchesLine(news.line, line);
    case 'listening':
      return port === true || port === news.port;
    case 'silent':
      return !isMissing(silentMs) && news.forMs >= silentMs;
    case 'ended':
      return !gone && (news.running === 0 || isMissing(port));
    case 'gone':
    case 'lost':
      return true;
  }
}
