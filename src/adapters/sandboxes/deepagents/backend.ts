// The types of deepagents' `SandboxBackendProtocolV2`, by their shape: nothing of it is loaded.

/** What could not be done; the other fields are absent then. */
interface Failure {
  readonly error?: string;
}

/** What stands at a path. */
export interface FileInfo {
  /** Absolute, with a slash at the end of a directory; from `glob()` on, from where was searched. */
  path: string;
  is_dir: boolean;
  /** In bytes. */
  size: number;
  /** ISO 8601. */
  modified_at: string;
}

/** The files that were found. */
export interface FilesResult extends Failure {
  files?: FileInfo[];
  /** There are more. */
  truncated?: boolean;
}

/** A file, or some of its lines. */
export interface ReadResult extends Failure {
  /** Text; bytes of what is none. */
  content?: string | Uint8Array;
  mimeType?: string;
  totalLines?: number;
  /** From 1. */
  startLine?: number;
  /** From 1. */
  endLine?: number;
  /** From 0; absent when nothing is left. */
  nextOffset?: number;
}

/** A whole file. */
export interface ReadRawResult extends Failure {
  data?: {
    content: string | Uint8Array;
    mimeType: string;
    created_at: string;
    modified_at: string;
  };
}

/** Lines that were found. */
export interface GrepResult extends Failure {
  matches?: { path: string; line: number; text: string }[];
  /** There are more. */
  truncated?: boolean;
}

/** A file that was changed. */
export interface ChangeResult extends Failure {
  path?: string;
  filesUpdate?: null;
  /** How often the text was replaced. */
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
  execute(command: string): Promise<ExecuteResult>;
  ls(path: string): Promise<FilesResult>;
  /** @param offset Lines that are skipped. @param limit Lines that are read. Default: 500. */
  read(path: string, offset?: number, limit?: number): Promise<ReadResult>;
  readRaw(path: string): Promise<ReadRawResult>;
  /** Replaces what is there. The content of what is no text (by its name: `.png`) is base64. */
  write(path: string, content: string): Promise<ChangeResult>;
  /** @param replaceAll Default: the text must be there once. */
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
  uploadFiles(
    files: [path: string, content: Uint8Array][],
  ): Promise<{ path: string; error: TransferError | null }[]>;
  downloadFiles(
    paths: string[],
  ): Promise<{ path: string; content: Uint8Array | null; error: TransferError | null }[]>;
  /** Ends all commands and what they have left running. */
  dispose(): Promise<void>;
}
