import { withDenials } from '../../../command/sandbox/denials.js';
import { refuseSecrets } from '../../../command/sandbox/of-command.js';
import type { SandboxPolicy } from '../../../command/sandbox/policy.js';
import { type ResolvedSandbox, resolveSandbox } from '../../../command/sandbox/resolve.js';
import type { Capture } from '../../../engine/outcome.js';
import type { SandboxReport } from '../../../engine/sandbox-report.js';

/** A call as far as it tells what it was denied. */
interface SandboxedCall {
  readonly stdout: Capture;
  readonly stderr: Capture;
  readonly durationMs: number;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
  /** Where it began; undefined: that could not be seen. */
  readonly from: string | undefined;
}

/** The sandbox of a shell, and what that denies each of its calls. */
export class ShellSandbox {
  /** With which the shell is to be started. */
  readonly policy: SandboxPolicy;
  readonly #pipes: string;
  readonly #cwd: string;
  readonly #resolved: ResolvedSandbox;

  /**
   * @param pipes A directory by which the shell talks to us, whatever the policy says.
   * @param cwd Where it is started.
   * @throws {InputError} The directory is the whole file system.
   */
  constructor(policy: SandboxPolicy, pipes: string, cwd: string) {
    const { allowWrite = [], ...files } = policy.filesystem ?? {};
    this.policy = { ...policy, filesystem: { ...files, allowWrite: [...allowWrite, pipes] } };
    this.#pipes = pipes;
    this.#cwd = cwd;
    this.#resolved = resolveSandbox(this.policy, cwd);
  }

  /** @throws {InputError} A call's text has a secret in it. */
  check(text: string): void {
    refuseSecrets(text, this.#resolved);
  }

  /** @param known What the engine has told since the call before; undefined: nothing. */
  async reportOf(
    { stdout, stderr, durationMs, startedAt, from = this.#cwd }: SandboxedCall,
    known: SandboxReport | undefined,
  ): Promise<SandboxReport | undefined> {
    if (known === undefined) return undefined;
    // Of a shell that has ended, the rest is of all its calls.
    const denials = known.denials.filter(({ source }) => source === 'kernel');
    const call = { stdout, stderr, durationMs, sandbox: { ...known, denials } };
    const { sandbox } = await withDenials(call, this.#resolved, from, startedAt);
    return { ...sandbox, writable: sandbox.writable.filter((path) => path !== this.#pipes) };
  }
}
