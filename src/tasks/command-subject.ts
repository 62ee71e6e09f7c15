import { constants } from 'node:fs';
import type { CommandFollower } from '../command/execute.js';
import type { StartedCommand } from '../command/promise.js';
import type { Typing } from '../engine/message.js';
import type { BackgroundProcess, OutputChunk } from '../engine/outcome.js';
import type { CommandHandle } from '../engine/process.js';
import type { TerminalSize } from '../options/terminal.js';
import type { Receipt } from '../receipt/receipt.js';
import { openHostFile } from '../support/directories/host-files.js';
import { InputError } from '../support/errors.js';
import { settlesWithin } from '../support/timing.js';
import { OutputRing } from './output-ring.js';
import type { OutputStretch, SubjectState, TaskSubject } from './subject.js';

/** Bytes of a command's output that are kept in memory for its followers. */
const RING_BYTES = 256 * 1024;

/** The engine's own time from SIGTERM to SIGKILL, and how long it retries after that. */
const GRACE_MS = 5000;
const PATIENCE_MS = 5000;

/** Facts about a command that are known before it is started. */
interface PlannedCommand {
  /** The file that long output is also written to, from its first byte on. */
  readonly outputFile?: string | undefined;
  /** The encoding of the output, which the file has as it is. Default: UTF-8. */
  readonly encoding?: string | undefined;
  /** Whether the command has a stdin to write to, or a terminal. */
  readonly takesInput: boolean;
  readonly terminal?: TerminalSize | undefined;
}

/** A command of this process, followed from before its start until no process of it is left. */
export class CommandSubject implements TaskSubject, CommandFollower {
  readonly takesInput: boolean;
  readonly #ring = new OutputRing(RING_BYTES);
  readonly #watchers = new Set<() => void>();
  readonly #started: Promise<CommandHandle | undefined>;
  #start: (handle: CommandHandle | undefined) => void = () => {};
  #gone: Promise<boolean> = Promise.resolve(true);
  #state: SubjectState = { kind: 'running' };
  #quietSince = Date.now();
  #outputFile: string | undefined;
  /** Whether the file has the output as it is followed. */
  readonly #isUtf8: boolean;
  #terminal: TerminalSize | undefined;

  constructor({ outputFile, encoding, takesInput, terminal }: PlannedCommand) {
    this.#terminal = terminal;
    this.#isUtf8 = encoding === undefined || /^utf-?8$/i.test(encoding);
    this.#outputFile = outputFile;
    this.takesInput = takesInput;
    this.#started = new Promise((resolve) => {
      this.#start = resolve;
    });
  }

  get state(): SubjectState {
    return this.#state;
  }

  get quietSince(): number {
    return this.#quietSince;
  }

  get terminal(): TerminalSize | undefined {
    return this.#terminal;
  }

  get outputFile(): string | undefined {
    return this.#outputFile;
  }

  /** Bytes printed so far. */
  get printed(): number {
    return this.#ring.total;
  }

  get isExact(): boolean {
    return this.#isUtf8 && this.#ring.isExact;
  }

  /** Takes the handle of the running command. */
  readonly started = ({ handle }: Pick<StartedCommand, 'handle'>): void => {
    // Asked while the command runs, since the engine could not tell later.
    this.#gone = handle.gone();
    this.#quietSince = Date.now();
    this.#start(handle);
    this.#tell();
  };

  /** Takes printed output. */
  readonly tell = (chunk: OutputChunk): void => {
    this.#ring.push(chunk);
    this.#quietSince = Date.now();
    this.#tell();
  };

  /** Notes the file that has all of its output from now on; undefined: none has. */
  keptIn(file: string | undefined): void {
    this.#outputFile = file;
  }

  /**
   * Notes that the command has ended.
   *
   * @param receipt Undefined: the command was never started.
   */
  conclude(receipt: Receipt | undefined): void {
    this.#start(undefined);
    const endedAt = Date.now();
    if (receipt === undefined || receipt.background.length === 0) {
      this.#become({ kind: 'ended', receipt, endedAt });
      return;
    }
    this.#become({ kind: 'left', receipt, endedAt });
    this.#gone.then((known) => {
      const reason = 'the process that counts its processes was killed';
      this.#become(known ? { kind: 'ended', receipt, endedAt } : { kind: 'lost', reason });
    });
  }

  watch(told: () => void): () => void {
    const watcher = (): void => told();
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  async read(since: number, maxBytes: number): Promise<OutputStretch> {
    const kept = this.#ring.read(since, maxBytes);
    // What memory does not have any more, or never had: a command may print faster than its host listens.
    const missing = Math.min(kept.from, kept.total) - since;
    if (missing <= 0 || !this.isExact || this.#outputFile === undefined) return kept;
    const bytes = await readAt(this.#outputFile, since, Math.min(maxBytes, missing));
    return bytes.length > 0 ? { bytes, from: since, total: this.#ring.total } : kept;
  }

  async members(): Promise<readonly BackgroundProcess[] | undefined> {
    if (this.#state.kind === 'ended') return [];
    return (await this.#started)?.members();
  }

  async write(data: Uint8Array): Promise<void> {
    if (!this.takesInput) throw new InputError('write: expected a task with an open stdin');
    const handle = await this.#started;
    if (handle === undefined) throw new InputError('write: expected a task that was started');
    await handle.write(data);
  }

  resize(size: TerminalSize): void {
    this.#terminal = size;
    this.#started.then((handle) => handle?.resize(size.columns, size.rows));
  }

  async typing(): Promise<Typing | undefined> {
    if (this.#terminal === undefined || this.#state.kind !== 'running') return undefined;
    return (await this.#started)?.typing?.();
  }

  closeInput(): void {
    if (!this.takesInput) throw new InputError('end: expected a task with an open stdin');
    this.#started.then((handle) => handle?.endInput());
  }

  async signal(signal: NodeJS.Signals): Promise<boolean> {
    return (await (await this.#started)?.signal(signal)) ?? false;
  }

  async end(graceMs?: number): Promise<void> {
    const handle = await this.#started;
    handle?.cancel(graceMs);
    // Does not wait longer for a process that survives SIGKILL.
    await settlesWithin(this.#gone, (graceMs ?? GRACE_MS) + PATIENCE_MS, 'keepsAlive');
  }

  #become(state: SubjectState): void {
    this.#state = state;
    this.#tell();
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher();
  }
}

/** Reads a file from a position on; returns nothing if it cannot be read. */
async function readAt(path: string, position: number, maxBytes: number): Promise<Buffer> {
  try {
    const file = await openHostFile(path, constants.O_RDONLY);
    try {
      const buffer = Buffer.alloc(maxBytes);
      const { bytesRead } = await file.read(buffer, 0, maxBytes, position);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return Buffer.alloc(0);
  }
}
