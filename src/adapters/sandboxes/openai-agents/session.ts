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
  environment: Record<string, string>;
}

/** As much as the Agents SDK shows of an image. */
const MOST_IMAGE_BYTES = 10 * 1024 * 1024;

/** The local machine as a sandbox session of the Agents SDK. Its manifest's root is the real path. */
export class LocalSandboxSession implements SandboxSession<LocalSessionState> {
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

  async exec(args: ExecCommandArgs): Promise<SandboxExecResult> {
    checkUser(args.runAs);
    return this.#processes.exec(args, this.state.environment);
  }

  async execCommand(args: ExecCommandArgs): Promise<string> {
    return execAnswer(await this.exec(args));
  }

  writeStdin(args: WriteStdinArgs): Promise<string> {
    return this.#processes.write(args);
  }

  /** Terminals are there without Python. */
  supportsPty(): boolean {
    return true;
  }

  createEditor(runAs?: string): Editor {
    checkUser(runAs);
    return editorOf(this.#machine.files);
  }

  async readFile({ path, maxBytes, runAs }: ReadFileArgs): Promise<Uint8Array> {
    checkUser(runAs);
    const bytes = await this.#machine.files.read(path);
    return maxBytes === undefined ? bytes : bytes.subarray(0, maxBytes);
  }

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

  async pathExists(path: string, runAs?: string): Promise<boolean> {
    checkUser(runAs);
    return (await this.#machine.files.status(path)) !== undefined;
  }

  async directoryExists(path: string, runAs?: string): Promise<boolean> {
    checkUser(runAs);
    return (await this.#machine.files.status(path))?.type === 'directory';
  }

  async viewImage({ path, runAs }: ViewImageArgs): Promise<ToolOutputImage> {
    checkUser(runAs);
    return imageOf(path, await this.#machine.files.read(path, { maxBytes: MOST_IMAGE_BYTES }));
  }

  async materializeEntry({ path, entry, runAs }: MaterializeEntryArgs): Promise<void> {
    checkUser(runAs);
    checkEntry(path, entry);
    await placeEntry(this.#machine.files, path, entry);
    const entries = { ...this.state.manifest.entries, [this.#relative(path)]: entry };
    this.state.manifest = manifestAt(this.state.manifest, this.state.root, { entries });
  }

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

  async resolveExposedPort(port: number): Promise<ExposedPortEndpoint> {
    const endpoint = { host: '127.0.0.1', port: normalizeExposedPort(port), tls: false };
    return recordExposedPortEndpoint(this.state, endpoint);
  }

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

  shutdown(): Promise<void> {
    return this.close();
  }

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
