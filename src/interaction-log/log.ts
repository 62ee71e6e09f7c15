import type { Receipt } from '../receipt/receipt.js';

/**
 * What an interaction log keeps of one command: that it was run and how it ended, not its output.
 */
export interface InteractionEntry {
  /** When it began, as ISO 8601 in UTC. */
  readonly time: string;
  /** The command's text, as it was given. */
  readonly command: string;
  /** Absent when it did not end with one. */
  readonly exitCode?: number;
  /** What the model was told went wrong; absent when it was told of no error. */
  readonly error?: string;
  /** Id of the process of a command that outlives the host, of which nothing else is known. */
  readonly detachedPid?: number;
  /** Everything it printed, shown or not, where stdout and stderr are one. */
  readonly outputBytes?: number;
  /** Everything it printed to stdout, shown or not, where they are two. */
  readonly stdoutBytes?: number;
  /** Everything it printed to stderr, likewise. */
  readonly stderrBytes?: number;
  /** Time from the call to its end, in milliseconds. */
  readonly durationMs: number;
  /** All that is known of the command; absent when it was not started, or is detached. */
  readonly receipt?: Receipt;
}

/** Where a tool notes the commands that it ran. A runtime may give one of its own. */
export interface InteractionLog {
  /** Takes an entry. What it throws, or rejects with, fails no command; it is reported once. */
  append(entry: InteractionEntry): void | Promise<void>;
  /** Resolves when what was appended is written. Called when the tool is disposed of. */
  flush?(): Promise<void>;
}
