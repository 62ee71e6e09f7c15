import { rm } from 'node:fs/promises';
import type { Editor, ToolOutputImage } from '@openai/agents';
import type {
  ExecCommandArgs,
  ExposedPortEndpoint,
  ListDirectoryArgs,
  Manifest,
  MaterializeEntryArgs,
  ReadFileArgs,
  SandboxDirectoryEntry,
  SandboxExecResult,
  SandboxSession,
  SandboxSessionState,
  ViewImageArgs,
  WriteStdinArgs,
} from '@openai/agents/sandbox';
import { userName } from '../../../support/directories/home.js';
import type { LocalMachine } from '../../local-machine/machine.js';
import { execAnswer } from './answer.js';
import { editorOf } from './editor.js';
import { checkEntry, checkManifest, placeEntry } from './entries.js';
import { imageOf } from './image.js';
import { Processes } from './processes.js';
import { sdk } from './sdk.js';

/** The state by which a session is resumed. */
export interface LocalSessionState extends SandboxSessionState {
  /** The session's directory. */
  root: string;
  /** Whether the session has made the directory, and removes it at its end. */
  ownsRoot: boolean;
  /** Variables of its commands from its manifest; they override those of the client's options. */
  environment: Record<string, string>;
}

/** Bytes of an image at most: as many as the Agents SDK shows. */
const MOST_IMAGE_BYTES = 10 * 1024 * 1024;

/** The local machine as a sandbox session of the Agents SDK. Its manifest's root is the real path. */
export class LocalSandboxSession implements SandboxSession<LocalSessionState> {
  /** The state by which the session is resumed, with all that was added to its manifest. */
  readonly state: LocalSessionState;
  readonly #machine: LocalMachine;
  readonly #processes: Processes;
  #closed: Promise<void> | undefined;

  /** Made by {@link LocalSandboxClient}. */
  constructor(state: LocalSessionState, machine: LocalMachine, shell?: string) {
    this.state = state;
    this.#machine = machine;
    this.#processes = new Processes(machine, shell);
  }

  /**
   * Runs a command for `yieldTimeMs` (default: 10,000). A command that goes on then has a `sessionId`.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} The `workdir` is no directory in the root.
   * @throws {InputError | LaunchError} The command could not be started.
   */
  async exec(args: ExecCommandArgs): Promise<SandboxExecResult> {
    checkUser(args.runAs);
    return this.#processes.exec(args, this.state.environment);
  }

  /** Runs a command as `exec()` does; answers in the lines that models of the Agents SDK know. */
  async execCommand(args: ExecCommandArgs): Promise<string> {
    return execAnswer(await this.exec(args));
  }

  /**
   * Writes to a command that goes on, and returns what it has printed within `yieldTimeMs` (default:
   * 250). Without a terminal, `\x03` is SIGINT.
   *
   * @throws {InputError} No command of that number goes on, or its end has been told.
   */
  writeStdin(args: WriteStdinArgs): Promise<string> {
    return this.#processes.write(args);
  }

  /** Returns true: terminals need no Python here. */
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
   * Reads the first `maxBytes` (default: all) of a file of at most 64 MiB.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} The file does not exist or is larger, or the path leads out of the root.
   */
  async readFile({ path, maxBytes, runAs }: ReadFileArgs): Promise<Uint8Array> {
    checkUser(runAs);
    const bytes = await this.#machine.files.read(path);
    return maxBytes === undefined ? bytes : bytes.subarray(0, maxBytes);
  }

  /**
   * Returns the entries of a directory, by name; their paths begin at the root.
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
   * Returns whether anything is at a path; a symlink counts for its target.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} The path leads out of the root.
   */
  async pathExists(path: string, runAs?: string): Promise<boolean> {
    checkUser(runAs);
    return (await this.#machine.files.status(path)) !== undefined;
  }

  /**
   * Returns whether a directory is at a path, or a symlink to one.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} The path leads out of the root.
   */
  async directoryExists(path: string, runAs?: string): Promise<boolean> {
    checkUser(runAs);
    return (await this.#machine.files.status(path))?.type === 'directory';
  }

  /**
   * Reads an image of at most 10 MiB; its first bytes tell the type.
   *
   * @throws {SandboxUnsupportedFeatureError} `runAs` is another user than that of this process.
   * @throws {PathError} The file does not exist or is larger, or the path leads out of the root.
   * @throws {InputError} The file is no image that models can be shown.
   */
  async viewImage({ path, runAs }: ViewImageArgs): Promise<ToolOutputImage> {
    checkUser(runAs);
    return imageOf(path, await this.#machine.files.read(path, { maxBytes: MOST_IMAGE_BYTES }));
  }

  /**
   * Writes an entry to its place, and adds it to the manifest.
   *
   * @throws {SandboxUnsupportedFeatureError} The entry is a mount or a repository, or has a group; or
   *   `runAs` is another user than that of this process.
   * @throws {PathError} The place is outside of the root, or the source can't be read.
   */
  async materializeEntry({ path, entry, runAs }: MaterializeEntryArgs): Promise<void> {
    checkUser(runAs);
    checkEntry(path, entry);
    await placeEntry(this.#machine.files, path, entry);
    const entries = { ...this.state.manifest.entries, [this.#relative(path)]: entry };
    this.state.manifest = manifestAt(this.state.manifest, this.state.root, { entries });
  }

  /**
   * Writes all entries of a manifest to their places, and adds them and its variables to the session's.
   *
   * @throws {SandboxUnsupportedFeatureError} The manifest asks for mounts, repositories, users or
   *   grants; or `runAs` is another user than that of this process.
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
   * Returns the same port of 127.0.0.1, whether or not a program listens there.
   *
   * @throws {UserError} The number is no port.
   */
  async resolveExposedPort(port: number): Promise<ExposedPortEndpoint> {
    const { normalizeExposedPort, recordExposedPortEndpoint } = sdk();
    const endpoint = { host: '127.0.0.1', port: normalizeExposedPort(port), tls: false };
    return recordExposedPortEndpoint(this.state, endpoint);
  }

  /** Returns true until the session is closed. */
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

/** Writes all entries of a manifest to their places. */
export async function placeAll(machine: LocalMachine, manifest: Manifest): Promise<void> {
  for (const [path, entry] of Object.entries(manifest.entries)) {
    await placeEntry(machine.files, path, entry);
  }
}

type Changed = Partial<ConstructorParameters<typeof Manifest>[0]>;

/** Returns a manifest with the real path of its root. */
export function manifestAt(manifest: Manifest, root: string, changed: Changed = {}): Manifest {
  const { version, entries } = manifest;
  return new (sdk().Manifest)({
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
  if (runAs === undefined || runAs === '' || runAs === userName()) return;
  throw new (sdk().SandboxUnsupportedFeatureError)(
    `runAs: expected the user of this process, ${userName()}, got ${JSON.stringify(runAs)}`,
  );
}
