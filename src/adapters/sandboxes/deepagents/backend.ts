// The types of deepagents' `SandboxBackendProtocolV2`, by their shape: nothing of it is loaded.

/** What could not be done; the other fields are absent then. */
interface Failure {
  readonly error?: string;
}

/** What stands at a path. */
export interface FileInfo {
  /** Absolute, with a slash at the end of a directory; from `glob()` on, from where was searched. */
  path: string;
  /** Of what a symlink leads to, if that is in the root. */
  is_dir: boolean;
  /** In bytes. */
  size: number;
  /** ISO 8601. */
  modified_at: string;
}

/** The files that were found. */
export interface FilesResult extends Failure {
  /** With directories; what was removed meanwhile is left out. */
  files?: FileInfo[];
  /** There are more. */
  truncated?: boolean;
}

/** A file, or some of its lines. */
export interface ReadResult extends Failure {
  /** Text; bytes of what is none. */
  content?: string | Uint8Array;
  /**
   * By its name for images, sound, films and PDF; else `text/plain`, or `application/octet-stream`
   * for what is not UTF-8.
   */
  mimeType?: string;
  /** Lines of the whole file; absent when it is no text. */
  totalLines?: number;
  /** From 1. */
  startLine?: number;
  /** From 1. */
  endLine?: number;
  /** Lines to skip for what comes next; absent when nothing is left. */
  nextOffset?: number;
}

/** A whole file. */
export interface ReadRawResult extends Failure {
  /** Its content, and what the file system says of it. */
  data?: {
    /** Text; bytes of what is none. */
    content: string | Uint8Array;
    /** As that of {@link ReadResult}. */
    mimeType: string;
    /** When it was made, as far as the file system knows; ISO 8601. */
    created_at: string;
    /** When its content was last changed; ISO 8601. */
    modified_at: string;
  };
}

/** Lines that were found. */
export interface GrepResult extends Failure {
  /** Each with the absolute path of its file, its number there, from 1, and its text. */
  matches?: { path: string; line: number; text: string }[];
  /** There are more. */
  truncated?: boolean;
}

/** A file that was changed. */
export interface ChangeResult extends Failure {
  /** As it was given. */
  path?: string;
  filesUpdate?: null;
  /** How many times the text was replaced; of `edit()` alone. */
  occurrences?: number;
}

/** Why a file was not moved. */
export type TransferError =
  | 'file_not_found'
  | 'permission_denied'
  | 'is_directory'
  | 'invalid_path';

/** How a command has ended. */
export interface ExecuteResult {
  /** Both streams, in the order in which they were written. */
  output: string;
  /** As `exitCodeOf()` has it. */
  exitCode: number;
  /** The middle of the output is left out; a line there says how much. */
  truncated: boolean;
}

/** The local machine for `backend` of `createDeepAgent`. The path `/` alone means its root. */
export interface DeepAgentsBackend extends AsyncDisposable {
  /** Another one for each backend. */
  readonly id: string;
  /**
   * Runs shell text in the root, to its end or until its time is up.
   *
   * @throws {InputError | LaunchError} It could not be started.
   */
  execute(command: string): Promise<ExecuteResult>;
  /** The entries of a directory, by name. */
  ls(path: string): Promise<FilesResult>;
  /**
   * Some lines of a text; all bytes of what is none. At most 64 MiB.
   *
   * @param offset Lines that are skipped. Default: 0.
   * @param limit Lines that are read. Default: 500.
   */
  read(path: string, offset?: number, limit?: number): Promise<ReadResult>;
  /** All of a file of at most 64 MiB, with its times. */
  readRaw(path: string): Promise<ReadRawResult>;
  /** Replaces what is there. The content of what is no text (by its name: `.png`) is base64. */
  write(path: string, content: string): Promise<ChangeResult>;
  /**
   * Replaces a text in a file, which has to be UTF-8.
   *
   * @param replaceAll Default: the text must be there once.
   */
  edit(path: string, from: string, to: string, replaceAll?: boolean): Promise<ChangeResult>;
  /** Removes a file, or a directory with all in it. */
  delete(path: string): Promise<ChangeResult>;
  /** Lines with a text, which is no expression; at most 10,000 unless told. */
  grep(
    text: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<GrepResult>;
  /** At most 10,000. */
  glob(pattern: string, path?: string): Promise<FilesResult>;
  /** Writes files one after the other, with the directories that are missing. */
  uploadFiles(
    files: [path: string, content: Uint8Array][],
  ): Promise<{ path: string; error: TransferError | null }[]>;
  /** Reads files of at most 64 MiB, one after the other; `content` is null where `error` says why. */
  downloadFiles(
    paths: string[],
  ): Promise<{ path: string; content: Uint8Array | null; error: TransferError | null }[]>;
  /** Ends all commands and what they have left running. */
  dispose(): Promise<void>;
}
