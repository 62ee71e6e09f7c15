import { nextTurn, pause, startTimer } from '../../support/timing.js';
import type {
  CommandEvents,
  CommandHandle,
  EngineCommand,
  EngineEnd,
  EngineOutcome,
} from '../message.js';
import type { BackgroundProcess, Capture } from '../outcome.js';
import { type GroupEnd, GroupEnding } from './group/ending.js';
import { ProcessGroup } from './group/group.js';
import { addGuarded, dropGuarded } from './group/guard.js';
import { Leftover } from './group/leftovers.js';
import { holdFor } from './hold.js';
import { Input } from './input.js';
import { directoryOf, launch } from './launch/launch.js';
import { type Leader, STATUS_UNKNOWN } from './launch/leader.js';
import { Outputs } from './output/outputs.js';

/** The phase of a command. */
type Phase = 'starting' | 'running' | 'ending' | 'draining' | 'closing' | 'over';

/**
 * How often, and after how many milliseconds, a fork of the shell is looked up again until it has become
 * another program.
 */
const MORE_LOOKS = 3;
const BECOMING_MS = 30;

/** One command, from its start to its end. */
export class PortableCommand implements CommandHandle {
  readonly owner: number;
  readonly #command: EngineCommand;
  readonly #events: CommandEvents;
  readonly #outputs: Outputs;
  #phase: Phase = 'starting';
  #cause: EngineOutcome['cause'] = 'itself';
  #isWanted = true;
  #graceMs: number;
  #startedAt = 0;
  #durationMs = 0;
  #status = STATUS_UNKNOWN;
  #forced = false;
  #leader: Leader | undefined;
  #group: ProcessGroup | undefined;
  #ending: GroupEnding | undefined;
  #leftover: Leftover | undefined;
  #input = new Input(undefined);
  #stopDeadline = (): void => {};
  #whenOver: (() => void)[] = [];

  constructor(owner: number, command: EngineCommand, events: CommandEvents) {
    this.owner = owner;
    this.#command = command;
    this.#events = events;
    this.#graceMs = command.graceMs;
    this.#outputs = new Outputs(command, events, () => this.#drained());
    holdFor(this, true);
    void this.#begin();
  }

  async #begin(): Promise<void> {
    const directory = directoryOf(this.#command);
    // Lets the caller get the handle before any event.
    await undefined;
    this.#startedAt = performance.now();
    const launched =
      typeof directory === 'string'
        ? await launch(this.#command, directory, this.owner, () => this.#isWanted)
        : directory;
    if (launched !== undefined && 'pid' in launched) {
      this.#run(launched);
      return;
    }
    await nextTurn();
    if (launched === undefined) this.#tell({ kind: 'neverStarted' });
    else this.#tell({ kind: 'failed', ...launched });
  }

  #run(leader: Leader): void {
    const { timeoutMs, stdin } = this.#command;
    this.#leader = leader;
    this.#group = new ProcessGroup(leader.pid);
    addGuarded(leader.pid);
    this.#phase = 'running';
    leader.whenEnded((status) => this.#ended(status));
    this.#outputs.read(leader.outputs);
    this.#input = new Input(leader.stdin);
    if (typeof stdin !== 'boolean') this.#feed(stdin);
    // After the host was stopped, the time may be up although the command has ended in time: its end is
    // reported in the same turn of the event loop, after the timers.
    const late = (): void => void setImmediate(() => this.#terminate('timedOut'));
    if (timeoutMs !== undefined) this.#stopDeadline = startTimer(timeoutMs, late);
    if (this.#isWanted) this.#events.started?.(leader.pid);
    else this.#terminate('cancelled');
  }

  /** Writes the whole input; a command may end without reading it. */
  #feed(bytes: Uint8Array): void {
    this.#input.write(bytes).catch(() => {});
    this.#input.end();
  }

  cancel(graceMs?: number): void {
    if (graceMs !== undefined) this.#graceMs = graceMs;
    if (this.#phase === 'starting') this.#isWanted = false;
    else if (this.#phase === 'running') this.#terminate('cancelled');
    else if (this.#phase === 'ending' && graceMs !== undefined) this.#ending?.hurry(graceMs);
    // Waits for data in the pipe, but no longer for the listener.
    else if (this.#phase === 'draining') this.#outputs.waitForNobody();
    else if (this.#phase === 'over') void this.#leftover?.end(this.#graceMs);
  }

  expire(): void {
    this.#terminate('timedOut');
  }

  #terminate(cause: EngineOutcome['cause']): void {
    if (this.#phase !== 'running' || this.#group === undefined) return;
    this.#phase = 'ending';
    this.#cause = cause;
    this.#stopDeadline();
    this.#ending = new GroupEnding(this.#group, this.#graceMs, (end) => this.#groupEnded(end));
  }

  #ended(status: number): void {
    this.#status = status;
    this.#durationMs = performance.now() - this.#startedAt;
    if (this.#phase === 'ending') this.#ending?.look();
    else if (this.#phase === 'running') this.#drain();
  }

  #groupEnded({ forced }: GroupEnd): void {
    this.#forced = forced;
    // Node reports the end of the process group's leader after reaping it, in this turn.
    setImmediate(() => this.#drain());
  }

  #drain(): void {
    if (this.#durationMs === 0) this.#durationMs = performance.now() - this.#startedAt;
    this.#phase = 'draining';
    this.#stopDeadline();
    this.#input.close();
    this.#outputs.commandEnded(this.#cause === 'itself');
  }

  #drained(): void {
    if (this.#phase !== 'draining') return;
    this.#phase = 'closing';
    void this.#close();
  }

  async #close(): Promise<void> {
    const { captures, spill } = await this.#outputs.close();
    const background = await this.#left();
    const directory = await this.#leader?.directory();
    const pid = this.#group?.id ?? 0;
    this.#outputs.deliverRest();
    this.#letGo();
    this.#tell({
      kind: 'ran',
      engine: 'portable',
      pid,
      cause: this.#cause,
      status: this.#status,
      forced: this.#forced,
      durationMs: this.#durationMs,
      // Node does not measure a child process.
      userMs: 0,
      systemMs: 0,
      peakBytes: 0,
      captures,
      background,
      spill,
      directory,
      share: this.#leader?.share ?? 0,
      sandbox: undefined,
    });
  }

  /** Returns the processes of its group that are left; processes elsewhere cannot be found. */
  async #left(): Promise<readonly BackgroundProcess[]> {
    let members = await this.members();
    // A fork of the shell is most likely about to become another program.
    for (let looks = 0; looks < MORE_LOOKS && members?.some(this.#isUnnamed); looks += 1) {
      await pause(BECOMING_MS);
      members = await this.members();
    }
    if (members !== undefined) return members;
    const id = this.#group?.id ?? 0;
    return [{ pid: id, processGroup: id, command: this.#label() }];
  }

  #letGo(): void {
    const group = this.#group;
    if (group === undefined) return;
    if (group.isEmpty) dropGuarded(group.id);
    else this.#leftover = new Leftover(this.owner, group);
  }

  #tell(end: EngineEnd): void {
    this.#phase = 'over';
    holdFor(this, false);
    this.#events.ended(end);
    for (const told of this.#whenOver.splice(0)) told();
  }

  async members(): Promise<readonly BackgroundProcess[] | undefined> {
    const members = await this.#group?.family();
    const shownAs = this.#leader?.call.shownAs;
    return members?.map(({ pid, processGroup, command }) => {
      // A fork of its own shell is named by the command's text, and not by the words around it.
      const isShell = shownAs !== undefined && command.startsWith(shownAs);
      return { pid, processGroup, command: isShell ? this.#label() : command };
    });
  }

  readonly #isUnnamed = ({ command }: BackgroundProcess): boolean => command === this.#label();

  #label(): string {
    return this.#command.text.slice(0, 1600).trim().replace(/\s+/g, ' ').slice(0, 200);
  }

  /** Resolves once it has ended. */
  over(): Promise<void> {
    if (this.#phase === 'over') return Promise.resolve();
    return new Promise((resolve) => this.#whenOver.push(resolve));
  }

  async gone(): Promise<boolean> {
    await this.over();
    await this.#leftover?.gone();
    return true;
  }

  resume(): void {
    // A listener that asks for more is called only after its call has returned.
    queueMicrotask(() => this.#outputs.wantMore());
  }

  detach(): void {
    this.#outputs.detach();
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#input.write(bytes);
  }

  endInput(): void {
    this.#input.end();
  }

  resize(columns: number, rows: number): void {
    if (this.#phase === 'running' || this.#phase === 'ending') this.#leader?.resize(columns, rows);
  }

  async signal(signal: NodeJS.Signals): Promise<boolean> {
    const runs = this.#phase === 'running' || this.#phase === 'ending';
    return runs && (this.#group?.signal(signal) ?? false);
  }

  holdHost(holds: boolean): void {
    if (this.#phase !== 'over') holdFor(this, holds);
  }

  async snapshot(): Promise<readonly Capture[] | undefined> {
    return this.#phase === 'over' ? undefined : this.#outputs.snapshot();
  }
}
