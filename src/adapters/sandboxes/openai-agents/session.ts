import { rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type { Editor, ToolOutputImage } from '@openai/agents';
import {
  type ExecCommandArgs,
  type ExposedPortEndpoint,
  type ListDirectoryArgs,
  Manifest,
  type MaterializeEntryArgs,
  normalizeExposedPort,
  type ReadFileArgs,
  recordExposedPortEndpoint,
  type SandboxDirectoryEntry,
  type SandboxExecResult,
  type SandboxSession,
  type SandboxSessionState,
  SandboxUnsupportedFeatureError,
  type ViewImageArgs,
  type WriteStdinArgs,
} from '@openai/agents/sandbox';
import type { LocalMachine } from '../../local-machine/machine.js';
import { execAnswer } from './answer.js';
import { editorOf } from './editor.js';
import { checkEntry, checkManifest, placeEntry } from './entries.js';
import { imageOf } from './image.js';
import { Processes } from './processes.js';

/** What a session is resumed by. */
export interface LocalSessionState extends SandboxSessionState {
  /** Its directory. */
  root: string;
  /** The session has made it, and removes it when it is closed. */
  ownsRoot: boolean;
  /** Variables of its commands, by its manifest, over those of the client's options. */
  environment: Record<string, string>;
}

/** As much as the Agents SDK shows of an image. */
const MOST_IMAGE_BYTES = 10 * 1024 * 1024;

/** The local machine as a sandbox session of the Agents SDK. Its manifest's root is the real path. */
export class LocalSandboxSession implements SandboxSession<LocalSessionState> {
  /** What it can be resumed by, with all that was added to its manifest. */
  readonly state: LocalSessionState;
  readonly #machine: LocalMachine;
  readonly #processes: Processes;
  #closed: Promise<void> | undefined;

  /** For {@link LocalSandboxClient}. */
  constructor(state: LocalSessionState, machine: LocalMachine, shell?: string) {
    this.state = state;
    this.#machine = machine;
    this.#processes = new Processes(machine, shell);
  }

  /**
   * Runs a command for `yieldTimeMs` (default: 10,000). One that goes on then has a `sessionId`.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} The `workdir` is no directory in the root.
   * @throws {InputError | LaunchError} It could not be started.
   */
  async exec(args: ExecCommandArgs): Promise<SandboxExecResult> {
    checkUser(args.runAs);
    return this.#processes.exec(args, this.state.environment);
  }

  /** As `exec()`, told in the lines that models of the Agents SDK know. */
  async execCommand(args: ExecCommandArgs): Promise<string> {
    return execAnswer(await this.exec(args));
  }

  /**
   * Writes to a command that goes on, and tells what it has printed within `yieldTimeMs` (default: 250).
   * Without a terminal, `\x03` is SIGINT.
   *
   * @throws {InputError} No command of that number goes on, or its end has been told.
   */
  writeStdin(args: WriteStdinArgs): Promise<string> {
    return this.#processes.write(args);
  }

  /** Terminals are there without Python. */
  supportsPty(): boolean {
    return true;
  }

  /**
   * Applies the patches of models to the files in the root.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   */
  createEditor(runAs?: string): Editor {
    checkUser(runAs);
    return editorOf(this.#machine.files);
  }

  /**
   * The first `maxBytes` (default: all) of a file of at most 64 MiB.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} There is no such file, it is larger, or the path leads out of the root.
   */
  async readFile({ path, maxBytes, runAs }: ReadFileArgs): Promise<Uint8Array> {
    checkUser(runAs);
    const bytes = await this.#machine.files.read(path);
    return maxBytes === undefined ? bytes : bytes.subarray(0, maxBytes);
  }

  /**
   * The entries of a directory, by name; their paths begin at the root.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} There is no such directory, or the path leads out of the root.
   */
  async listDir({ path, runAs }: ListDirectoryArgs): Promise<SandboxDirectoryEntry[]> {
    checkUser(runAs);
    const entries = await this.#machine.files.list(path);
    const within = this.#relative(path);
    return entries.map(({ name, type }) => ({
      name,
      path: within === '' ? name : `${within}/${name}`,
      type: type === 'directory' ? 'dir' : type === 'file' ? 'file' : 'other',
    }));
  }

  /**
   * Whether there is anything; a symlink counts for what it leads to.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} The path leads out of the root.
   */
  async pathExists(path: string, runAs?: string): Promise<boolean> {
    checkUser(runAs);
    return (await this.#machine.files.status(path)) !== undefined;
  }

  /**
   * Whether there is a directory, or a symlink to one.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} The path leads out of the root.
   */
  async directoryExists(path: string, runAs?: string): Promise<boolean> {
    checkUser(runAs);
    return (await this.#machine.files.status(path))?.type === 'directory';
  }

  /**
   * An image of at most 10 MiB; its type is told by its first bytes.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} There is no such file, it is larger, or the path leads out of the root.
   * @throws {InputError} It is no image that models can be shown.
   */
  async viewImage({ path, runAs }: ViewImageArgs): Promise<ToolOutputImage> {
    checkUser(runAs);
    return imageOf(path, await this.#machine.files.read(path, { maxBytes: MOST_IMAGE_BYTES }));
  }

  /**
   * Puts an entry in its place, and adds it to the manifest.
   *
   * @throws {SandboxUnsupportedFeatureError} It is a mount or a repository, or has a group; or `runAs` is
   *   another user than that of this process.
   * @throws {PathError} Its place is outside of the root, or its source can't be read.
   */
  async materializeEntry({ path, entry, runAs }: MaterializeEntryArgs): Promise<void> {
    checkUser(runAs);
    checkEntry(path, entry);
    await placeEntry(this.#machine.files, path, entry);
    const entries = { ...this.state.manifest.entries, [this.#relative(path)]: entry };
    this.state.manifest = manifestAt(this.state.manifest, this.state.root, { entries });
  }

  /**
   * Puts all entries of a manifest in their places, and adds them and its variables to the session's.
   *
   * @throws {SandboxUnsupportedFeatureError} It asks for mounts, repositories, users or grants; or `runAs`
   *   is another user than that of this process.
   * @throws {PathError} An entry's place is outside of the root, or its source can't be read.
   */
  async applyManifest(manifest: Manifest, runAs?: string): Promise<void> {
    checkUser(runAs);
    checkManifest(manifest);
    await placeAll(this.#machine, manifest);
    const environment = await manifest.resolveEnvironment();
    this.state.environment = { ...this.state.environment, ...environment };
    this.state.manifest = manifestAt(this.state.manifest, this.state.root, {
      entries: { ...this.state.manifest.entries, ...manifest.entries },
      environment: { ...environmentOf(this.state.manifest), ...environmentOf(manifest) },
    });
  }

  /**
   * The same port of 127.0.0.1, whether or not anything listens there.
   *
   * @throws {UserError} It is no port.
   */
  async resolveExposedPort(port: number): Promise<ExposedPortEndpoint> {
    const endpoint = { host: '127.0.0.1', port: normalizeExposedPort(port), tls: false };
    return recordExposedPortEndpoint(this.state, endpoint);
  }

  /** True until it is closed. */
  async running(): Promise<boolean> {
    return this.#closed === undefined;
  }

  /** Ends the commands that go on; files stay. */
  stop(): Promise<void> {
    return this.#processes.stop();
  }

  /** Ends all commands and what they have left running, and removes a directory of its own. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** The same as `close()`. */
  shutdown(): Promise<void> {
    return this.close();
  }

  /** The same as `close()`: files in a `root` of the caller's stay. */
  delete(): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#machine.dispose();
    if (this.state.ownsRoot) await rm(this.state.root, { recursive: true, force: true });
  }

  #relative(path: string): string {
    const { root } = this.state;
    const within = path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : path;
    return within
      .split('/')
      .filter((name) => name !== '' && name !== '.')
      .join('/');
  }
}

/** Puts all entries of a manifest where they belong. */
export async function placeAll(machine: LocalMachine, manifest: Manifest): Promise<void> {
  for (const [path, entry] of Object.entries(manifest.entries)) {
    await placeEntry(machine.files, path, entry);
  }
}

type Changed = Partial<ConstructorParameters<typeof Manifest>[0]>;

/** A manifest that says where its files really are. */
export function manifestAt(manifest: Manifest, root: string, changed: Changed = {}): Manifest {
  const { version, entries } = manifest;
  return new Manifest({
    version,
    entries,
    environment: environmentOf(manifest),
    ...changed,
    root,
  });
}

function environmentOf(manifest: Manifest) {
  return Object.fromEntries(
    Object.entries(manifest.environment).map(([name, value]) => [name, value.init()]),
  );
}

function checkUser(runAs: string | undefined): void {
  if (runAs === undefined || runAs === '' || runAs === userInfo().username) return;
  throw new SandboxUnsupportedFeatureError(
    `runAs: expected the user of this process, ${userInfo().username}, got ${JSON.stringify(runAs)}`,
  );
}
