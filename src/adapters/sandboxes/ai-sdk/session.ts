// The types of AI SDK 7's `Experimental_SandboxSession`, by their shape: nothing of it is loaded, and
// who has another version of it can still compile.

/** A command and where it runs. */
export interface SandboxCommand {
  /** Shell text. */
  readonly command: string;
  /** Default: the root. */
  readonly workingDirectory?: string | undefined;
  /** Over the variables of the machine. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Ends the command and everything it started, when it is aborted. Default: none. */
  readonly abortSignal?: AbortSignal | undefined;
}

/** A path, in the root. */
export interface SandboxPath {
  /** Relative to the root, or absolute and in it. */
  readonly path: string;
  /** Stops reading and writing; the other methods don't look at it. Default: none. */
  readonly abortSignal?: AbortSignal | undefined;
}

/** A file and what it is to have. */
export interface SandboxWrite<Content> extends SandboxPath {
  /** All that the file has afterwards. */
  readonly content: Content;
}

/** A text, or some of its lines. */
export interface SandboxReadText extends SandboxPath {
  /** As `TextDecoder` calls it. Default: 'utf-8'. */
  readonly encoding?: string | undefined;
  /** The first line, from 1. Default: 1. */
  readonly startLine?: number | undefined;
  /** The last line, included. Default: that of the file. */
  readonly endLine?: number | undefined;
}

/** How a command has ended. */
export interface SandboxRunResult {
  /** As `exitCodeOf()` has it: 124 when its time was up, 128 and a signal's number. */
  readonly exitCode: number;
  /** Its middle is left out where it is longer than `headBytes` and `tailBytes`; a line says so. */
  readonly stdout: string;
  /** As `stdout`; a line at its end says when its time was up, or that it was ended from outside. */
  readonly stderr: string;
}

/** A command that runs. */
export interface SandboxProcess {
  /** Process id; also that of its process group. */
  readonly pid: number;
  /** Each stream has room for 8 MiB; the command waits for its reader then. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** With room of its own, as `stdout`. */
  readonly stderr: ReadableStream<Uint8Array>;
  /** @throws What the signal was aborted with. */
  wait(): Promise<{ exitCode: number }>;
  /** Ends it and everything it started: SIGTERM, grace, SIGKILL. */
  kill(): Promise<void>;
}

/** A command that is told things. */
export interface WritableSandboxProcess extends SandboxProcess {
  /** Once it is closed or aborted, the command reads the end of its input. */
  readonly stdin: WritableStream<Uint8Array>;
}

/** How a command is started. */
export interface SandboxSpawn extends SandboxCommand {
  /** It has a stdin that is written to. Default: it reads nothing. */
  readonly stdin?: boolean | undefined;
}

/** What stands at a path. */
export interface SandboxFileStat {
  /** Of what a symlink leads to. `other`: a device, a named pipe, a socket. */
  readonly type: 'file' | 'directory' | 'other';
  /** In bytes. */
  readonly size: number;
}

/** An entry of a directory. */
export interface SandboxDirectoryEntry {
  /** Without its directory. */
  readonly name: string;
  /** Of a symlink itself. `other`: a device, a named pipe, a socket. */
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
}

/** The local machine for `experimental_sandbox`. */
export interface SandboxSession extends AsyncDisposable {
  /** For the instructions of an agent. */
  readonly description: string;
  /** Null: there is no such file. So in the other two. */
  readonly readFile: (options: SandboxPath) => Promise<ReadableStream<Uint8Array> | null>;
  /** @throws {PathError} Also: it has more than 64 MiB. */
  readonly readBinaryFile: (options: SandboxPath) => Promise<Uint8Array | null>;
  /**
   * Null: there is no such file.
   *
   * @throws {InputError} The encoding is not known.
   * @throws {PathError} Also: it has more than 64 MiB.
   */
  readonly readTextFile: (options: SandboxReadText) => Promise<string | null>;
  /** Makes the directories that are missing. So do the other two. */
  readonly writeFile: (options: SandboxWrite<ReadableStream<Uint8Array>>) => Promise<void>;
  /** Replaces all that the file had; it has a part of its content until this is over. */
  readonly writeBinaryFile: (options: SandboxWrite<Uint8Array>) => Promise<void>;
  /**
   * Replaces all that the file had, by text in the encoding.
   *
   * @throws {InputError} The encoding is none of those.
   */
  readonly writeTextFile: (
    options: SandboxWrite<string> & {
      /** `utf-8`, `utf-16le`, `latin1` or `ascii`. Default: 'utf-8'. */
      readonly encoding?: string | undefined;
    },
  ) => Promise<void>;
  /** Null: there is nothing. */
  readonly stat: (options: SandboxPath) => Promise<SandboxFileStat | null>;
  /** Its entries, by name. Null: there is no such directory. */
  readonly listDirectory: (options: SandboxPath) => Promise<SandboxDirectoryEntry[] | null>;
  /** False: there was nothing. */
  readonly deleteFile: (options: SandboxPath) => Promise<boolean>;
  /**
   * Starts a command, whose output comes as it is written.
   *
   * @throws {InputError | LaunchError} It could not be started.
   * @throws {PathError} `workingDirectory` is no directory in the root.
   */
  readonly spawn: {
    (options: SandboxSpawn & { readonly stdin: true }): Promise<WritableSandboxProcess>;
    (options: SandboxSpawn & { readonly stdin?: false }): Promise<SandboxProcess>;
    (options: SandboxSpawn): Promise<SandboxProcess | WritableSandboxProcess>;
  };
  /** @throws What the signal was aborted with, once the command is gone. */
  readonly run: (options: SandboxCommand) => Promise<SandboxRunResult>;
  /** Ends all commands and what they have left running. */
  dispose(): Promise<void>;
}
