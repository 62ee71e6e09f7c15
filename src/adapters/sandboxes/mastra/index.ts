// The caller passes Mastra's classes, which it has: nothing of Mastra is loaded.
import { type Capture, shellQuote, textOf } from '../../../index.js';
import { checkPeer } from '../../../support/peers/check.js';
import { uniqueName } from '../../../support/random.js';
import { LocalMachine } from '../../local-machine/machine.js';
import type { LocalMachineOptions } from '../../local-machine/options.js';
import { endOf, type ProcessEnds, processManager, whyEnded } from './processes.js';
import type {
  CommandEnd,
  CommandSettings,
  MastraClasses,
  SandboxPhase,
  WorkspaceSandbox,
} from './sandbox.js';

export { PathError, type PathErrorKind } from '../../local-machine/files/path-error.js';
export type { LocalMachineOptions } from '../../local-machine/options.js';
export type {
  CommandEnd,
  CommandSettings,
  HandleBase,
  MastraClasses,
  SandboxPhase,
  WorkspaceSandbox,
} from './sandbox.js';

checkPeer('forkline/sandboxes/mastra', import.meta.url);

/** Options of a sandbox for Mastra. */
export interface WorkspaceSandboxOptions<Manager extends object> extends LocalMachineOptions {
  /** The module `@mastra/core/workspace`, or its two classes. */
  readonly base: MastraClasses<Manager>;
}

/**
 * Makes the local machine the sandbox of a Mastra workspace. `base` is the module `@mastra/core/workspace`.
 *
 * ```ts
 * const sandbox = await createWorkspaceSandbox({ base, root: '/work/project' });
 * const workspace = new base.Workspace({ sandbox });
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws {PathError} The root is no directory.
 */
export async function createWorkspaceSandbox<Manager extends object>({
  base,
  ...options
}: WorkspaceSandboxOptions<Manager>): Promise<WorkspaceSandbox<Manager>> {
  const machine = await LocalMachine.open(options);
  const running = new Set<ProcessEnds>();
  const sandbox = new LocalWorkspaceSandbox<Manager>(machine, running, (owner) => {
    const manager = processManager(machine, base, running);
    // Mastra's own constructor does the same.
    Reflect.set(manager, 'sandbox', owner);
    return manager;
  });
  return sandbox;
}

class LocalWorkspaceSandbox<Manager extends object> implements WorkspaceSandbox<Manager> {
  readonly id = `forkline-${uniqueName()}`;
  readonly name = 'forkline';
  readonly provider = 'local';
  readonly processes: Manager;
  status: SandboxPhase = 'pending';
  readonly #machine: LocalMachine;
  readonly #running: ReadonlySet<ProcessEnds>;
  readonly #createdAt = new Date();
  #env: Record<string, string | undefined> = {};

  constructor(
    machine: LocalMachine,
    running: ReadonlySet<ProcessEnds>,
    processes: (owner: LocalWorkspaceSandbox<Manager>) => Manager,
  ) {
    this.#machine = machine;
    this.#running = running;
    this.processes = processes(this);
  }

  async start(): Promise<void> {
    if (this.status === 'destroyed') throw new Error('the sandbox was destroyed');
    this.status = 'running';
  }

  async ensureRunning(): Promise<void> {
    if (this.status !== 'running') await this.start();
  }

  async stop(): Promise<void> {
    this.status = 'stopped';
    await Promise.all([...this.#running].map((process) => process.kill()));
  }

  async destroy(): Promise<void> {
    this.status = 'destroyed';
    await this.#machine.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.destroy();
  }

  isReady(): boolean {
    return this.status === 'running';
  }

  getInfo() {
    const { id, name, provider, status } = this;
    return { id, name, provider, status, createdAt: this.#createdAt };
  }

  getInstructions(): string {
    return `Commands run in bash on this machine, and start in ${this.#machine.root}.`;
  }

  async snapshot(): Promise<void> {}

  setEnv(
    update: (env: Record<string, string | undefined>) => Record<string, string | undefined>,
  ): void {
    this.#env = { ...update(this.getEnv()) };
  }

  getEnv(): Record<string, string | undefined> {
    return { ...this.#env };
  }

  async executeCommand(
    command: string,
    args: string[] = [],
    options: CommandSettings = {},
  ): Promise<CommandEnd> {
    await this.ensureRunning();
    const { maxRetainedBytes: tailBytes } = options;
    const result = await this.#machine.run(args.length > 0 ? [command, ...args] : command, {
      cwd: options.cwd,
      env: { ...this.#env, ...options.env },
      timeoutMs: options.timeout,
      signal: options.abortSignal,
      streams: 'separate',
      ...(tailBytes !== undefined && Number.isFinite(tailBytes) && { headBytes: 0, tailBytes }),
      onOutput: ({ stream, text }) => {
        (stream === 'stderr' ? options.onStderr : options.onStdout)?.(text);
      },
    });
    const { stdout, stderr } = result;
    const end = endOf(result, {
      stdout: textOf(stdout),
      stderr: textOf(stderr) + whyEnded(result),
      stdoutTruncated: stdout.kind === 'cut',
      stderrTruncated: stderr.kind === 'cut',
      stdoutDroppedBytes: droppedOf(stdout),
      stderrDroppedBytes: droppedOf(stderr),
    });
    return { ...end, command: args.length > 0 ? shellQuote([command, ...args]) : command };
  }

  async writeFiles(
    files: { path: string; content: string | Uint8Array; mode?: number }[],
    { abortSignal: signal }: { readonly abortSignal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    for (const { path, content, mode } of files) {
      await this.#machine.files.write(path, Buffer.from(content), { mode, signal });
    }
  }
}

function droppedOf(capture: Capture): number {
  return capture.kind === 'cut' ? capture.dropped.bytes : 0;
}
