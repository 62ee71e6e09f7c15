/** The exports of the addon. Its other side is native/addon; codec.ts converts for this side. */
export interface NativeBinding {
  /** Returns whether the process's variables in memory are exactly this block at this moment. */
  environmentIs(block: string): boolean;
  /** Closes the socket of a sandbox. */
  closeSocket(descriptor: number): void;
  /** Tells a sandbox by its pipe whether its proxy is served, and closes the pipe. */
  answerSandbox(answer: number, isServed: boolean): void;
  /** Starts the engine unless it runs; returns undefined or null when it runs now. */
  start(): { readonly errno: number; readonly message: string } | null | undefined;
  /** Reads what commands have changed, by their journals in a directory; the oldest first. */
  readChanges(directory: string, ids: string[]): Promise<NativeChanges>;
  /** Puts back what was there before these commands: all of it, or what is at or below these paths. */
  revertChanges(directory: string, ids: string[], paths: string[] | null): Promise<NativeReverted>;
  /** Reads the changes that are held below a directory: of this id. */
  readPending(directory: string, id: string): Promise<NativeChanges>;
  /** Puts them into effect: all of them, or what is at or below these paths. */
  acceptPending(directory: string, id: string, paths: string[] | null): Promise<NativeSettlement>;
  /** Drops them likewise. */
  dropPending(directory: string, id: string, paths: string[] | null): Promise<NativeSettlement>;
  readonly TextCapture: new (headBytes: number, tailBytes: number) => NativeCapture;
  readonly Channel: new (
    /** Memory into which the addon writes the figures of the records that it dispatches. */
    figures: Float64Array,
    dispatch: (records: readonly NativeRecord[]) => void,
    /** The name of this JavaScript environment in plans of sandboxes. */
    name: string,
  ) => NativeChannel;
}

/** A change of a file. The fields are there that its kind has. */
export interface NativeChange {
  readonly kind: 'created' | 'changed' | 'deleted' | 'renamed' | 'mode' | 'attributes';
  readonly path: string;
  readonly from?: string;
  readonly type?: 'file' | 'directory' | 'link' | 'other';
  readonly size?: number;
  readonly sizeBefore?: number;
  readonly files?: number;
  readonly mode?: number;
  readonly modeBefore?: number;
  readonly isChanged?: boolean;
}

/** What commands have changed. */
export interface NativeChanges {
  readonly list: readonly NativeChange[];
  /** The number of changes beyond the list. */
  readonly more: number;
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
  readonly renamed: number;
  readonly isComplete: boolean;
  readonly unseen: readonly string[];
  readonly unrevertable: readonly { readonly path: string; readonly reason: string }[];
  readonly isReverted: boolean;
}

/** What was put back. */
interface NativeReverted {
  readonly reverted: readonly string[];
  readonly conflicts: readonly { readonly path: string; readonly reason: string }[];
  readonly lost: readonly { readonly path: string; readonly reason: string }[];
}

/** What was put into effect, or dropped. */
interface NativeSettlement {
  readonly settled: readonly string[];
  readonly conflicts: readonly { readonly path: string; readonly reason: string }[];
  readonly heldBack: readonly { readonly path: string; readonly reason: string }[];
}

/** The kept part of a stream. */
export interface NativeCapture {
  push(bytes: Uint8Array): void;
  snapshot(): CaptureRecord;
}

/** A named pipe; a negative number is an errno. */
export interface NativePipe {
  /** For paths in `/proc`; -1 once the pipe is closed. */
  readonly descriptor: number;
  /** Returns 0 without a writer. */
  read(into: Uint8Array): number;
  write(bytes: Uint8Array): number;
  unread(): number;
  /** Replies false when the pipe is closed before it is ready. One call at a time. */
  whenReady(request: number, isForWriting: boolean): void;
  close(): void;
}

/** One JavaScript environment's connection to the engine. This side chooses the ids. */
export interface NativeChannel {
  owner(): number;
  run(
    id: number,
    numbers: Float64Array,
    text: string,
    shells: string,
    environment: string,
    /** Undefined: the host's current working directory. */
    directory: string | undefined,
    stdin: boolean | Uint8Array,
    spillPath: string | undefined,
    sandbox: string | undefined,
    groups: string | undefined,
  ): void;
  startDetached(
    request: number,
    numbers: Float64Array,
    text: string,
    shells: string,
    environment: string,
    directory: string,
    outputPath: string,
    sandbox: string | undefined,
  ): void;
  /** Returns a negative errno if the pipe cannot be made. */
  namedPipe(path: string, staysOpen: boolean): NativePipe | number;
  forget(id: number): void;
  cancel(id: number, graceMs?: number): void;
  expire(id: number): void;
  resume(id: number): void;
  detach(id: number): void;
  write(id: number, request: number, bytes: Uint8Array): void;
  endInput(id: number): void;
  resize(id: number, columns: number, rows: number): void;
  typing(id: number, request: number): void;
  signal(id: number, request: number, signal: number): void;
  snapshot(id: number, request: number): void;
  members(id: number, request: number): void;
  sandbox(id: number, request: number): void;
  whenGone(id: number, request: number): void;
  /** Answers a question about a program: 0 denies, 1 allows, and 2 denies because nobody can be asked. */
  decide(keeper: number, number: number, answer: number): void;
  dispose(owner: number, request: number, graceMs: number): void;
}

// Records are flat: field names would cost the main thread a look-up each. The numbers are those of
// native/addon/src/event.rs.

export const STARTED = 0;
export const OUTPUT = 1;
export const RAN = 2;
export const NEVER_STARTED = 3;
export const FAILED = 4;
export const REPLY = 5;
export const KEEPER_DIED = 6;
export const MEMBERS = 7;
export const LISTENS = 8;
export const SANDBOX_GONE = 9;
export const ASKED = 10;
export const WITHDRAWN = 11;
export const DETACHED_OVER = 12;

export type NativeRecord =
  | readonly [kind: typeof STARTED, id: number, pid: number]
  | readonly [kind: typeof OUTPUT, id: number, stream: number, chunks: readonly ChunkRecord[]]
  | RanRecord
  | readonly [kind: typeof NEVER_STARTED, id: number]
  | readonly [
      kind: typeof FAILED,
      id: number,
      step: string,
      errno: number,
      subject: string,
      message: string,
    ]
  | readonly [kind: typeof KEEPER_DIED, id: number]
  | ReplyRecord
  | MembersRecord
  /** A socket of a sandbox with this plan, and the file descriptor for the answer that it is served. */
  | readonly [kind: typeof LISTENS, id: number, descriptor: number, answer: number, plan: string]
  | readonly [kind: typeof SANDBOX_GONE, id: number]
  | AskedRecord
  | readonly [kind: typeof WITHDRAWN, id: number, keeper: number, number: number]
  /** A detached command in a sandbox is over, or could not be started: no question of it follows. */
  | readonly [kind: typeof DETACHED_OVER, id: number];

/** A question about a program that is about to be executed. */
export type AskedRecord = readonly [
  kind: typeof ASKED,
  /** The command, or the request for one that is detached. */
  id: number,
  /** Both together name the question. */
  keeper: number,
  number: number,
  pid: number,
  program: string,
  directory: string,
  say: string,
  parents: readonly (readonly [pid: number, program: string])[],
  argv: readonly string[],
];

export type RanRecord = readonly [
  kind: typeof RAN,
  id: number,
  /** Index of its first figure: see `decodeRan`. */
  figures: number,
  background: readonly BackgroundRecord[] | null,
  /** No record, or one. */
  spill: readonly SpillRecord[] | null,
  /**
   * Two for each capture: the whole text and null, or head and tail. Then, for a command whose directory
   * was followed, its last directory, if known; and for a command in a sandbox, its report.
   */
  ...texts: RanText[],
];

export type RanText = string | null | undefined;

export type ChunkRecord = readonly [droppedBytes: number, data: string | Uint8Array];

type CountsRecord = readonly [bytes: number, characters: number, lines: number];

export type CaptureRecord =
  | readonly [...total: CountsRecord, lossy: boolean, text: string]
  | readonly [
      ...total: CountsRecord,
      lossy: boolean,
      head: string,
      tail: string,
      ...dropped: CountsRecord,
      lastLineBytes: number,
    ];

export type BackgroundRecord = readonly [pid: number, processGroup: number, command: string];

export type SpillRecord =
  | readonly [bytes: number, droppedBytes: number]
  | readonly [bytes: number, droppedBytes: number, errno: number, message: string];

export type ReplyRecord = readonly [
  kind: typeof REPLY,
  request: number,
  /**
   * Whether the request succeeded; a process id; a sandbox's report, or how a terminal takes what is typed;
   * captures; null when the command has ended.
   */
  value: boolean | number | string | null | readonly CaptureRecord[],
  errno?: number,
  message?: string,
  step?: string,
  subject?: string,
];

/** The running processes of a command; null when they could not be examined. */
export type MembersRecord = readonly [
  kind: typeof MEMBERS,
  request: number,
  members: readonly BackgroundRecord[] | null,
];
