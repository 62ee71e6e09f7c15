// The types of AI SDK 7's `Experimental_SandboxSession`, by their shape: nothing of it is loaded, and a
// host with another version of it can still compile.

/** A command and its surroundings. */
export interface SandboxCommand {
  /** Shell text. */
  readonly command: string;
  /** The directory where the command starts. Default: the root. */
  readonly workingDirectory?: string | undefined;
  /** Variables that override those of the machine. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** A signal that ends the command and everything it has started. Default: none. */
  readonly abortSignal?: AbortSignal | undefined;
}

/** A path, in the root. */
export interface SandboxPath {
  /** Relative to the root, or absolute and in it. */
  readonly path: string;
  /** A signal that stops reading and writing; the other methods ignore it. Default: none. */
  readonly abortSignal?: AbortSignal | undefined;
}

/** A file and its new content. */
export interface SandboxWrite<Content> extends SandboxPath {
  /** The whole new content of the file. */
  readonly content: Content;
}

/** A text, or some of its lines. */
export interface SandboxReadText extends SandboxPath {
  /** The encoding, by its name for `TextDecoder`. Default: 'utf-8'. */
  readonly encoding?: string | undefined;
  /** The first line, from 1. Default: 1. */
  readonly startLine?: number | undefined;
  /** The last line, included. Default: the file's last line. */
  readonly endLine?: number | undefined;
}

/** The end of a command. */
export interface SandboxRunResult {
  /**
   * The exit code, as `exitCodeOf()` returns it: 124 after a timeout, 128 and a signal's number.
   */
  readonly exitCode: number;
  /**
   * The output; if it is longer than `headBytes` and `tailBytes`, the middle is left out and a line
   * says so.
   */
  readonly stdout: string;
  /**
   * The error output, shortened as `stdout`; a last line says if the command has timed out, or was
   * ended from outside.
   */
  readonly stderr: string;
}

/** A running command. */
export interface SandboxProcess {
  /** The process id, which is that of the process group, too. */
  readonly pid: number;
  /** The output. The stream has room for 8 MiB; then the command waits for its reader. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** The error output, with room of its own. */
  readonly stderr: ReadableStream<Uint8Array>;
  /**
   * Waits for the end of the command.
   *
   * @throws The reason of the signal.
   */
  wait(): Promise<{ exitCode: number }>;
  /** Ends the command and everything it has started: SIGTERM, grace, SIGKILL. */
  kill(): Promise<void>;
}

/** A running command with a stdin. */
export interface WritableSandboxProcess extends SandboxProcess {
  /**
   * The command's stdin; once the stream is closed or aborted, the command reads the end of file.
   */
  readonly stdin: WritableStream<Uint8Array>;
}

/** Options of a command that is started. */
export interface SandboxSpawn extends SandboxCommand {
  /** Whether the command has a stdin to write to. Default: its stdin is empty. */
  readonly stdin?: boolean | undefined;
}

/** The status of a path. */
export interface SandboxFileStat {
  /** The type of a symlink's target. `other`: a device, a named pipe, a socket. */
  readonly type: 'file' | 'directory' | 'other';
  /** The size in bytes. */
  readonly size: number;
}

/** An entry of a directory. */
export interface SandboxDirectoryEntry {
  /** The name, without the directory. */
  readonly name: string;
  /** The type of a symlink itself. `other`: a device, a named pipe, a socket. */
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
}

/** The local machine for `experimental_sandbox`. */
export interface SandboxSession extends AsyncDisposable {
  /** A description for the instructions of an agent. */
  readonly description: string;
  /** Opens a file as a stream. Null, here and in the two methods below: there is no such file. */
  readonly readFile: (options: SandboxPath) => Promise<ReadableStream<Uint8Array> | null>;
  /**
   * Reads a whole file.
   *
   * @throws {PathError} Also: the file has more than 64 MiB.
   */
  readonly readBinaryFile: (options: SandboxPath) => Promise<Uint8Array | null>;
  /**
   * Reads a text. Null: there is no such file.
   *
   * @throws {InputError} The encoding is not known.
   * @throws {PathError} Also: the file has more than 64 MiB.
   */
  readonly readTextFile: (options: SandboxReadText) => Promise<string | null>;
  /**
   * Writes a file from a stream, and makes directories that are missing, as the two methods below do.
   */
  readonly writeFile: (options: SandboxWrite<ReadableStream<Uint8Array>>) => Promise<void>;
  /** Replaces the content of a file, which has a part of it until this is done. */
  readonly writeBinaryFile: (options: SandboxWrite<Uint8Array>) => Promise<void>;
  /**
   * Replaces the content of a file by text in the encoding.
   *
   * @throws {InputError} The encoding is none of those.
   */
  readonly writeTextFile: (
    options: SandboxWrite<string> & {
      /** The encoding: `utf-8`, `utf-16le`, `latin1` or `ascii`. Default: 'utf-8'. */
      readonly encoding?: string | undefined;
    },
  ) => Promise<void>;
  /** Returns the status of a path. Null: nothing is there. */
  readonly stat: (options: SandboxPath) => Promise<SandboxFileStat | null>;
  /** Returns the entries of a directory, by name. Null: there is no such directory. */
  readonly listDirectory: (options: SandboxPath) => Promise<SandboxDirectoryEntry[] | null>;
  /** Removes a file or directory. Returns whether anything was there. */
  readonly deleteFile: (options: SandboxPath) => Promise<boolean>;
  /**
   * Starts a command, whose output comes as it is written.
   *
   * @throws {InputError | LaunchError} The command could not be started.
   * @throws {PathError} `workingDirectory` is no directory in the root.
   */
  readonly spawn: {
    (options: SandboxSpawn & { readonly stdin: true }): Promise<WritableSandboxProcess>;
    (options: SandboxSpawn & { readonly stdin?: false }): Promise<SandboxProcess>;
    (options: SandboxSpawn): Promise<SandboxProcess | WritableSandboxProcess>;
  };
  /**
   * Runs a command to its end.
   *
   * @throws The reason of the signal, once the command is gone.
   */
  readonly run: (options: SandboxCommand) => Promise<SandboxRunResult>;
  /** Ends all commands and what they have left running. */
  dispose(): Promise<void>;
}
