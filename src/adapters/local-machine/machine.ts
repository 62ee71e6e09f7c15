import {
  type BytesChunk,
  type CommandLine,
  type CommandOptions,
  createOwner,
  type LiveProcess,
  type MergedResult,
  type Owner,
  type RunResult,
  run,
  type SandboxOption,
  type SeparateResult,
  type SpawnOptions,
  spawn,
} from '../../index.js';
import { LocalFiles } from './files/local-files.js';
import { type LocalMachineOptions, machineOptions } from './options.js';

/** Options of a command that the machine does not set. */
type RunOptions = Omit<CommandOptions, 'owner'>;
type StartOptions = Omit<SpawnOptions, 'owner'>;

/**
 * The local machine in the role of a framework's sandbox: commands, and the files below one directory.
 */
export class LocalMachine implements AsyncDisposable {
  readonly files: LocalFiles;
  readonly #options: Omit<LocalMachineOptions, 'root'>;
  readonly #owner: Owner = createOwner();

  private constructor(files: LocalFiles, options: Omit<LocalMachineOptions, 'root'>) {
    this.files = files;
    this.#options = options;
  }

  /**
   * Opens a machine.
   *
   * @throws {InputError} An option is not valid.
   * @throws {PathError} The root is no directory.
   */
  static async open(given: LocalMachineOptions = {}): Promise<LocalMachine> {
    const { root = process.cwd(), ...options } = machineOptions(given);
    const files = await LocalFiles.open(root);
    return new LocalMachine(files, { ...options, sandbox: around(files.root, options.sandbox) });
  }

  /** The machine's directory, without symlinks. */
  get root(): string {
    return this.files.root;
  }

  /** Whether commands run in a sandbox. */
  get isConfined(): boolean {
    const { sandbox } = this.#options;
    return sandbox !== undefined && sandbox !== 'danger-full-access';
  }

  /** Runs a command to its end, as `run()` does; `cwd` is a directory in the root. */
  run(command: CommandLine, options: RunOptions & { streams: 'separate' }): Promise<SeparateResult>;
  run(command: CommandLine, options?: RunOptions & { streams?: 'merged' }): Promise<MergedResult>;
  async run(command: CommandLine, options: RunOptions = {}): Promise<RunResult> {
    return run(command, await this.#laidOver(command, options));
  }

  /** Starts a command whose output comes as bytes, as `spawn()` does. */
  async start(command: CommandLine, options: StartOptions = {}): Promise<LiveProcess<BytesChunk>> {
    return spawn(command, { ...(await this.#laidOver(command, options)), encoding: 'bytes' });
  }

  /** Starts a command whose output comes as text, as `spawn()` does. */
  async startText(command: CommandLine, options: StartOptions = {}): Promise<LiveProcess> {
    return spawn(command, { ...(await this.#laidOver(command, options)), encoding: 'text' });
  }

  /** Ends all commands and what they have left running. */
  dispose(graceMs?: number): Promise<void> {
    return this.#owner.dispose(graceMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #laidOver<Options extends RunOptions | StartOptions>(
    command: CommandLine,
    options: Options,
  ): Promise<Options> {
    // A program and its arguments run without a shell.
    const shell = typeof command === 'string' ? this.#options.shell : undefined;
    const cwd = await this.files.directory(String(options.cwd ?? '.'));
    const env = { ...this.#options.env, ...options.env };
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs;
    return { ...this.#options, shell, ...options, timeoutMs, env, cwd, owner: this.#owner };
  }
}

/** A sandbox lets commands write to the root, wherever they start in it. */
function around(workspace: string, sandbox: SandboxOption | undefined): SandboxOption | undefined {
  if (sandbox === 'workspace-write') return { workspace };
  return typeof sandbox === 'object' ? { workspace, ...sandbox } : sandbox;
}
