import { newestOf } from '../support/text.js';

/** A whole output on disk. */
export interface Artifact {
  /** What stands in `artifact://ID`. */
  readonly id: string;
  /** Whose output it is, as it stands in the file's name. */
  readonly tool: string;
  /** Absolute path of the file. */
  readonly path: string;
  /** Size of the file. */
  readonly bytes: number;
}

/** What became of the file that a draft named. */
export interface DraftReport {
  /** Bytes that are in it. */
  readonly bytes: number;
  /** Bytes that are not, because of the draft's `maxBytes` or of an error. */
  readonly dropped: number;
  /** Why it could not be written. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** A place for an output that may become long. Nothing is there until it does. */
export interface ArtifactDraft {
  /** Where the file is to be made, with O_EXCL. */
  readonly path: string;
  /** More than this must not be written to it. */
  readonly maxBytes: number;
  /**
   * The file was made and is closed: makes it an artifact; undefined when nothing is in it.
   *
   * @param tool Under another name than the draft's.
   */
  keep(report: DraftReport, tool?: string): Promise<Artifact | undefined>;
  /** The file was not made, or is not wanted. Must not throw. */
  discard(): void;
}

/** Part of an artifact. */
export type ArtifactRange =
  /** Bytes from `start`, counted from 0, up to and without `end`. Default: to the end. */
  | { readonly unit: 'bytes'; readonly start: number; readonly end?: number }
  /** Lines from `start`, counted from 1, up to and with `end`. Default: to the end. */
  | { readonly unit: 'lines'; readonly start: number; readonly end?: number };

/**
 * Where whole outputs are kept. A runtime with a store of its own implements this; a failure of a
 * store never fails a command.
 */
export interface ArtifactStore {
  /** A place for the output of a command that starts now. On every command's way: keep it cheap. */
  draft(tool: string): Promise<ArtifactDraft>;
  /** Keeps something that is in memory. */
  save(tool: string, data: string | Uint8Array): Promise<Artifact>;
  /** What is there, by ascending ids. */
  list(): Promise<readonly Artifact[]>;
  /**
   * The artifact with this id.
   *
   * @throws {ArtifactError} There is none.
   */
  find(id: string): Promise<Artifact>;
  /**
   * The exact bytes of an artifact, or of a part of it; what lies past its end is left out.
   *
   * @throws {ArtifactError} There is none with this id.
   * @throws {InputError} The range is none.
   */
  read(id: string, range?: ArtifactRange): Promise<Uint8Array>;
  /** Ends the store, and removes what its options say. */
  dispose(): Promise<void>;
}

/** There is no such artifact. The message is for the model: it says which there are. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError';
  /** The id that was asked for. */
  readonly id: string;
  /** The ids that there are. */
  readonly available: readonly string[];

  /** An error that names the unknown id, and those that there are. */
  constructor(id: string, available: readonly string[]) {
    super(`Unknown artifact id: ${id}. ${describeAvailable(available)}`);
    this.id = id;
    this.available = available;
  }
}

function describeAvailable(ids: readonly string[]): string {
  return ids.length === 0 ? 'No artifacts are available.' : `Available: ${newestOf(ids)}`;
}
