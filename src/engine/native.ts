import type { Capture, StreamName } from './outcome.js';

/** What the addon exports. Its other side is native/addon. */
export interface NativeBinding {
  /** The process's environment now: entries joined by NUL, one character a byte. */
  environ(): string;
  readonly Channel: new (dispatch: (events: readonly NativeEvent[]) => void) => NativeChannel;
}

/** One JavaScript environment's line to the engine. Ids are chosen by this side. */
export interface NativeChannel {
  owner(): number;
  run(owner: number, id: number, announce: boolean, command: NativeCommand): void;
  forget(id: number): void;
  cancel(id: number, graceMs?: number): void;
  resume(id: number): void;
  write(id: number, request: number, bytes: Uint8Array): void;
  endInput(id: number): void;
  signal(id: number, request: number, signal: number): void;
  snapshot(id: number, request: number): void;
  dispose(owner: number, request: number, graceMs: number): void;
}

/** A command with nothing left to decide. */
export interface NativeCommand {
  readonly text: string;
  /** Paths joined by NUL, tried in order. */
  readonly shells: string;
  /** Entries joined by NUL, one character a byte. */
  readonly environment: string;
  readonly directory?: string;
  /** Bytes, a pipe to write to (true), or nothing (false). */
  readonly stdin: boolean | Uint8Array;
  readonly separate: boolean;
  readonly headBytes: number;
  readonly tailBytes: number;
  readonly listen?: 'text' | 'bytes';
  readonly pause: boolean;
  readonly spillPath?: string;
  readonly spillMaxBytes: number;
  readonly timeoutMs?: number;
  readonly graceMs: number;
}

export type NativeEvent =
  | { readonly kind: 'started'; readonly id: number; readonly pid: number }
  | {
      readonly kind: 'output';
      readonly id: number;
      readonly stream: StreamName;
      readonly chunks: readonly NativeChunk[];
    }
  | ({ readonly kind: 'ended'; readonly id: number } & NativeEnd)
  | ({ readonly kind: 'reply'; readonly id: number } & NativeReply);

export interface NativeChunk {
  readonly text?: string;
  readonly bytes?: Uint8Array;
  readonly droppedBytes: number;
}

export type NativeEnd =
  | { readonly ended: 'neverStarted' }
  | {
      readonly ended: 'failed';
      readonly step: string;
      readonly errno: number;
      readonly subject: string;
      readonly message: string;
    }
  | NativeOutcome;

export interface NativeOutcome {
  readonly ended: 'ran';
  readonly pid: number;
  readonly cause: 'itself' | 'timedOut' | 'cancelled';
  /** Neither this nor `signal`: the status is not known. */
  readonly exitCode?: number;
  readonly signal?: number;
  readonly forced: boolean;
  readonly durationMs: number;
  readonly userMs: number;
  readonly systemMs: number;
  readonly peakBytes: number;
  readonly peakIsExact: boolean;
  /** The merged output, or stdout and stderr. */
  readonly captures: readonly Capture[];
  readonly spill?: {
    readonly bytes: number;
    readonly droppedBytes: number;
    readonly errno?: number;
    readonly message?: string;
  };
  readonly background?: readonly {
    readonly pid: number;
    readonly processGroup: number;
    readonly command: string;
  }[];
}

export interface NativeReply {
  readonly value?: boolean | null | readonly Capture[];
  readonly errno?: number;
  readonly message?: string;
}
