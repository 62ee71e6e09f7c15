// The types of deepagents' `SandboxBackendProtocolV2`, by their shape: nothing of it is loaded.

/** The failure of an operation; the other fields are absent then. */
interface BackendFailure {
  readonly error?: string;
}

/** The status of a path. */
export interface FileInfo {
  /**
   * The absolute path, with a slash at the end of a directory; from `glob()`, relative to the searched
   * directory.
   */
  path: string;
  /** Whether the path is a directory, or a symlink to one in the root. */
  is_dir: boolean;
  /** The size in bytes. */
  size: number;
  /** The time of the last change, as ISO 8601. */
  modified_at: string;
}

/** The files that were found. */
export interface FilesResult extends BackendFailure {
  /** The files and directories; entries that were removed meanwhile are left out. */
  files?: FileInfo[];
  /** Whether there are more. */
  truncated?: boolean;
}

/** A file, or some of its lines. */
export interface ReadResult extends BackendFailure {
  /** The text; the bytes of a file that is no text. */
  content?: string | Uint8Array;
  /**
   * The media type: by the file's name for images, sound, films and PDF; else `text/plain`, or
   * `application/octet-stream` for a file that is not UTF-8.
   */
  mimeType?: string;
  /** The number of lines of the whole file; absent if it is no text. */
  totalLines?: number;
  /** The first line, from 1. */
  startLine?: number;
  /** The last line, from 1. */
  endLine?: number;
  /** Lines to skip for the next part; absent when nothing is left. */
  nextOffset?: number;
}

/** A whole file. */
export interface ReadRawResult extends BackendFailure {
  /** The file's content and times. */
  data?: {
    /** The text; the bytes of a file that is no text. */
    content: string | Uint8Array;
    /** The media type, as in {@link ReadResult}. */
    mimeType: string;
    /** The time when the file was made, if the file system knows it, as ISO 8601. */
    created_at: string;
    /** The time of the last change of the content, as ISO 8601. */
    modified_at: string;
  };
}

/** The lines that were found. */
export interface GrepResult extends BackendFailure {
  /** The lines, each with the absolute path of its file, its number there, from 1, and its text. */
  matches?: { path: string; line: number; text: string }[];
  /** Whether there are more. */
  truncated?: boolean;
}

/** A file that was changed. */
export interface ChangeResult extends BackendFailure {
  /** The path as the caller gave it. */
  path?: string;
  filesUpdate?: null;
  /** The number of replacements; of `edit()` alone. */
  occurrences?: number;
}

/** The reason why a file was not transferred. */
export type TransferError =
  | 'file_not_found'
  | 'permission_denied'
  | 'is_directory'
  | 'invalid_path';

/** The end of a command. */
export interface ExecuteResult {
  /** Both streams, in the order in which they were written. */
  output: string;
  /** The exit code, as `exitCodeOf()` returns it. */
  exitCode: number;
  /** Whether the middle of the output is left out; a line there says how much. */
  truncated: boolean;
}

/**
 * The local machine for `backend` of `createDeepAgent`. The path `/` by itself stands for the root.
 */
export interface DeepAgentsBackend extends AsyncDisposable {
  /** An id of its own for each backend. */
  readonly id: string;
  /**
   * Runs shell text in the root, to its end or until it times out.
   *
   * @throws {InputError | LaunchError} The command could not be started.
   */
  execute(command: string): Promise<ExecuteResult>;
  /** Returns the entries of a directory, by name. */
  ls(path: string): Promise<FilesResult>;
  /**
   * Reads some lines of a text; all bytes of a file that is no text. At most 64 MiB.
   *
   * @param offset Lines that are skipped. Default: 0.
   * @param limit Lines that are read. Default: 500.
   */
  read(path: string, offset?: number, limit?: number): Promise<ReadResult>;
  /** Reads a whole file of at most 64 MiB, with its times. */
  readRaw(path: string): Promise<ReadRawResult>;
  /**
   * Writes a file, and replaces one that is there. For a file that is no text by its name (`.png`),
   * `content` is base64.
   */
  write(path: string, content: string): Promise<ChangeResult>;
  /**
   * Replaces a text in a file, which has to be UTF-8.
   *
   * @param replaceAll Whether all places are replaced. Default: the text must be there once.
   */
  edit(path: string, from: string, to: string, replaceAll?: boolean): Promise<ChangeResult>;
  /** Removes a file, or a directory with all in it. */
  delete(path: string): Promise<ChangeResult>;
  /** Finds lines with a text, which is no expression; at most 10,000 unless told. */
  grep(
    text: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<GrepResult>;
  /** Finds paths that match a pattern, at most 10,000. */
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
