import type { Receipt } from '../receipt/receipt.js';

/** The entry of one command in an interaction log: that it was run and how it ended, not its output. */
export interface InteractionEntry {
  /** When the command began, as ISO 8601 in UTC. */
  readonly time: string;
  /** The command's text, as it was given. */
  readonly command: string;
  /** The exit code; absent when the command did not end with one. */
  readonly exitCode?: number;
  /** The error that the model was told of; absent when there was none. */
  readonly error?: string;
  /** Process id of a detached command, which outlives the host; nothing else is known of it. */
  readonly detachedPid?: number;
  /** Bytes of the whole output, shown or not, where stdout and stderr are merged. */
  readonly outputBytes?: number;
  /** Bytes of all of stdout, shown or not, where the streams are separate. */
  readonly stdoutBytes?: number;
  /** Bytes of all of stderr, likewise. */
  readonly stderrBytes?: number;
  /** Time from the call to the command's end, in milliseconds. */
  readonly durationMs: number;
  /** The command's receipt; absent when the command was not started, or is detached. */
  readonly receipt?: Receipt;
}

/** A log in which a tool records the commands that it ran. A runtime may implement its own. */
export interface InteractionLog {
  /** Records an entry. An error that it throws or rejects with fails no command; it is reported once. */
  append(entry: InteractionEntry): void | Promise<void>;
  /** Resolves when all appended entries are written. Called when the tool is disposed of. */
  flush?(): Promise<void>;
}
