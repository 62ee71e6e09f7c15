import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  Manifest,
  SandboxClient,
  SandboxClientCreateArgs,
  SandboxClientOptions,
} from '@openai/agents/sandbox';
import { checkPeer } from '../../../support/peers/check.js';
import { LocalMachine } from '../../local-machine/machine.js';
import type { LocalMachineOptions } from '../../local-machine/options.js';
import { checkManifest } from './entries.js';
import { loadSdk } from './sdk.js';
import { LocalSandboxSession, type LocalSessionState, manifestAt, placeAll } from './session.js';

export { PathError, type PathErrorKind } from '../../local-machine/files/path-error.js';
export type { LocalMachineOptions } from '../../local-machine/options.js';
export { LocalSandboxSession, type LocalSessionState } from './session.js';

checkPeer('forkline/sandboxes/openai-agents', import.meta.url);

/**
 * Options of a session. It has a directory of its own in the system's temporary one, unless `root`
 * names another.
 */
export type LocalSandboxOptions = LocalMachineOptions & SandboxClientOptions;

/**
 * The local machine for `sandbox.client` of a run of the Agents SDK.
 *
 * ```ts
 * const client = new LocalSandboxClient({ root: '/work/project' });
 * await run(new SandboxAgent({ name, model }), 'Fix the tests', { sandbox: { client } });
 * ```
 */
export class LocalSandboxClient implements SandboxClient<LocalSandboxOptions, LocalSessionState> {
  readonly backendId = 'forkline';
  readonly supportsDefaultOptions = true;
  readonly #options: LocalSandboxOptions;

  /** Takes options for all its sessions; those of `create()` override them. */
  constructor(options: LocalSandboxOptions = {}) {
    this.#options = options;
  }

  /**
   * Makes a session with the entries and variables of its manifest.
   *
   * @throws {SandboxUnsupportedFeatureError} The manifest asks for mounts, repositories, users or grants.
   * @throws {InputError} An option is not valid.
   * @throws {PathError} The root is no directory, or an entry leads out of it.
   */
  async create(
    args?: SandboxClientCreateArgs<LocalSandboxOptions> | Manifest,
    given?: LocalSandboxOptions,
  ): Promise<LocalSandboxSession> {
    const { normalizeSandboxClientCreateArgs } = await loadSdk();
    const { manifest, options } = normalizeSandboxClientCreateArgs(args, given);
    checkManifest(manifest);
    const { root, ...rest } = { ...this.#options, ...options };
    const directory = root ?? (await mkdtemp(join(await realpath(tmpdir()), 'forkline-sandbox-')));
    const ownsRoot = root === undefined;
    try {
      const machine = await LocalMachine.open({ ...rest, root: directory });
      await placeAll(machine, manifest);
      return this.#session(await newState(manifest, machine.root, ownsRoot), machine);
    } catch (error) {
      if (ownsRoot) await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /**
   * Continues in the directory of an earlier session, whose commands have ended.
   *
   * @throws {PathError} The directory is gone.
   */
  async resume(state: LocalSessionState): Promise<LocalSandboxSession> {
    await loadSdk();
    const { root: _, ...options } = this.#options;
    return this.#session(state, await LocalMachine.open({ ...options, root: state.root }));
  }

  /** Returns the state without values of variables: the manifest says where they come from. */
  async serializeSessionState(state: LocalSessionState): Promise<Record<string, unknown>> {
    return { root: state.root, ownsRoot: state.ownsRoot };
  }

  /**
   * Returns the state for `resume()`; variables have the values that the manifest gives them now.
   */
  async deserializeSessionState(state: Record<string, unknown>): Promise<LocalSessionState> {
    const { Manifest: ManifestClass } = await loadSdk();
    const root = String(state.root);
    const manifest = new ManifestClass(
      (state.manifest ?? {}) as ConstructorParameters<typeof Manifest>[0],
    );
    return {
      ...state,
      manifest: manifestAt(manifest, root),
      root,
      ownsRoot: state.ownsRoot === true,
      environment: await manifest.resolveEnvironment(),
    };
  }

  #session(state: LocalSessionState, machine: LocalMachine): LocalSandboxSession {
    return new LocalSandboxSession(state, machine, this.#options.shell?.[0]);
  }
}

async function newState(
  manifest: Manifest,
  root: string,
  ownsRoot: boolean,
): Promise<LocalSessionState> {
  return {
    manifest: manifestAt(manifest, root),
    root,
    ownsRoot,
    environment: await manifest.resolveEnvironment(),
    workspaceReady: true,
  };
}
