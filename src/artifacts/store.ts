import { brand } from '../support/errors.js';
import { newestOf } from '../support/text.js';

/** A whole output, in a file. */
export interface Artifact {
  /** The ID in `artifact://ID`. */
  readonly id: string;
  /** Name of the tool that made the output, as it is in the file's name. */
  readonly tool: string;
  /** Absolute path of the file. */
  readonly path: string;
  /** Size of the file in bytes. */
  readonly bytes: number;
}

/** Facts about the file that a draft named. */
export interface DraftReport {
  /** Bytes in the file. */
  readonly bytes: number;
  /** Bytes left out because of the draft's `maxBytes` or of an error. */
  readonly dropped: number;
  /** Why the file could not be written. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** A path for an output that may become long. No file is made until it does. */
export interface ArtifactDraft {
  /** Where the file is to be created, with O_EXCL. */
  readonly path: string;
  /** The most bytes that may be written to the file. */
  readonly maxBytes: number;
  /**
   * Makes the file an artifact while it is still written: it keeps the id and the path when `keep()` is
   * called. Returns undefined when there is no file yet. Optional: without it, a task's output is named by
   * the draft's path while the task runs.
   */
  publish?(): Promise<Artifact | undefined>;
  /**
   * Makes the closed file an artifact. Returns undefined when the file is empty.
   *
   * @param tool Under a name other than the draft's.
   */
  keep(report: DraftReport, tool?: string): Promise<Artifact | undefined>;
  /** Releases a draft whose file was not made, or is not wanted. Must not throw. */
  discard(): void;
}

/** Part of an artifact. */
export type ArtifactRange =
  /** Bytes from `start`, counted from 0, up to and without `end`. Default: to the end. */
  | { readonly unit: 'bytes'; readonly start: number; readonly end?: number }
  /** Lines from `start`, counted from 1, up to and with `end`. Default: to the end. */
  | { readonly unit: 'lines'; readonly start: number; readonly end?: number };

/**
 * A store for whole outputs. A runtime with a store of its own implements this; a failure of a store
 * never fails a command.
 */
export interface ArtifactStore {
  /** Returns a path for the output of a command that starts now. Called for every command: keep it cheap. */
  draft(tool: string): Promise<ArtifactDraft>;
  /** Keeps data that is in memory. */
  save(tool: string, data: string | Uint8Array): Promise<Artifact>;
  /** Lists the artifacts by ascending ids. */
  list(): Promise<readonly Artifact[]>;
  /**
   * Returns the artifact with this id.
   *
   * @throws {ArtifactError} There is none.
   */
  find(id: string): Promise<Artifact>;
  /**
   * Reads the exact bytes of an artifact, or of a part of it; a range may reach past the end.
   *
   * @throws {ArtifactError} There is no artifact with this id.
   * @throws {InputError} The range is not valid.
   */
  read(id: string, range?: ArtifactRange): Promise<Uint8Array>;
  /** Ends the store, and removes its files if its options say so. */
  dispose(): Promise<void>;
}

/** There is no such artifact. The message is for the model: it lists the ids there are. */
export class ArtifactError extends Error {
  static {
    brand(ArtifactError, 'ArtifactError');
  }
  override readonly name = 'ArtifactError';
  /** The id that was asked for. */
  readonly id: string;
  /** The ids that exist. */
  readonly available: readonly string[];

  /** Creates an error that names the unknown id, and the ids that exist. */
  constructor(id: string, available: readonly string[]) {
    super(`Unknown artifact id: ${id}. ${describeAvailable(available)}`);
    this.id = id;
    this.available = available;
  }
}

function describeAvailable(ids: readonly string[]): string {
  return ids.length === 0 ? 'No artifacts are available.' : `Available: ${newestOf(ids)}`;
}
