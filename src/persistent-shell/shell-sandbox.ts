import { existsSync } from 'node:fs';
import { removeTemporaryDirectory } from '../artifacts/temporary-directory.js';
import { runApart } from '../command/promise.js';
import type { Capture, RunResult } from '../engine/outcome.js';
import type { Owner } from '../engine/owner.js';
import type { Denial, EngineReport } from '../engine/sandbox-report.js';
import { withDenials } from '../sandbox/denials/denials.js';
import { sandboxEnvironment } from '../sandbox/environment.js';
import {
  type CheckoutMarks,
  lookingCommand,
  withCheckoutsSince,
} from '../sandbox/git/checkout/checkout.js';
import { markCheckouts } from '../sandbox/git/checkout/mark.js';
import { withHeldRows } from '../sandbox/held/report.js';
import { refuseSecrets, sandboxOfCommand } from '../sandbox/of-command.js';
import { withPipes } from '../sandbox/pipes.js';
import type { SandboxPolicy } from '../sandbox/policy.js';
import type { ResolvedSandbox } from '../sandbox/resolve.js';
import { noteJournal } from '../sandbox/undo/report.js';
import { makePipesDirectory } from './pipes.js';

/** Denials that the engine tells call by call; others are found anew, in what a call has printed and by its time. */
const AS_TOLD: readonly Denial['source'][] = ['kernel', 'broker'];

/** What a list of changes tells in place of a command. */
const SHELL_TEXT = '(the calls of a persistent shell)';

/** The parts of a call from which denials are found. */
interface SandboxedCall {
  readonly stdout: Capture;
  readonly stderr: Capture;
  readonly durationMs: number;
  /** The time when the call began, by `performance.now()`. */
  readonly startedAt: number;
  /** The directory where the call began; undefined: it could not be seen. */
  readonly from: string | undefined;
  /** The result of {@link ShellSandbox.mark} at that time. */
  readonly marks: CheckoutMarks;
}

/** The directory, environment and owner of a shell. */
interface ShellPlace {
  readonly cwd: string;
  /** The environment block. */
  readonly environment: string;
  readonly owner?: Owner | undefined;
}

/** The sandbox of a shell, and the denials of each call. */
export class ShellSandbox {
  /** The policy for the start of the shell. */
  readonly policy: SandboxPolicy;
  readonly #cwd: string;
  readonly #resolved: ResolvedSandbox;
  readonly #environment: string;
  readonly #owner: Owner | undefined;

  /**
   * @param policy The policy, including the directory of the shell's pipes.
   * @param start The directory, environment and owner of the shell.
   * @throws {InputError} The directory is the whole file system.
   */
  constructor(policy: SandboxPolicy, { cwd, environment, owner }: ShellPlace) {
    this.policy = policy;
    this.#cwd = cwd;
    this.#environment = environment;
    this.#owner = owner;
    this.#resolved = sandboxOfCommand(this.policy, cwd, '');
  }

  /** @throws {InputError} The text of a call contains a secret. */
  check(text: string): void {
    refuseSecrets(text, this.#resolved);
  }

  /** Returns the state of git's working trees before a call. */
  mark(): CheckoutMarks {
    return markCheckouts(this.#resolved);
  }

  /**
   * Makes the report of a call.
   *
   * @param known The engine's report since the call before; undefined: there is none.
   */
  async reportOf(
    { stdout, stderr, durationMs, startedAt, from = this.#cwd, marks }: SandboxedCall,
    known: EngineReport | undefined,
  ): Promise<EngineReport | undefined> {
    if (known === undefined) return undefined;
    // That of an ended shell is about all of its calls.
    const { incomplete: _, changes: __, undoId, ...ofAll } = known;
    // All calls have one journal, in which each does not stand for itself.
    if (undoId !== undefined) {
      await noteJournal(undoId, { text: SHELL_TEXT, cwd: this.#cwd, owner: this.#owner });
    }
    const denials = ofAll.denials.filter(({ source }) => AS_TOLD.includes(source));
    const call = { stdout, stderr, durationMs, sandbox: { ...ofAll, denials } };
    const told = await withDenials(call, this.#resolved, from, startedAt);
    const place = {
      environment: sandboxEnvironment(this.#environment, this.#resolved),
      sandbox: this.#resolved,
      directory: from,
    };
    const run = (script: string, args: readonly string[]) =>
      runApart(lookingCommand(place, script, args), this.#owner);
    const { sandbox } = await withCheckoutsSince(told, marks, run);
    return sandbox && withHeldRows(sandbox);
  }
}

/** Returns the report on the sandbox of a shell that has ended. */
export function reportIn({ sandbox, executed, moreExecuted }: RunResult): EngineReport | undefined {
  if (sandbox === undefined) return undefined;
  return {
    ...sandbox,
    ...(executed && { executed }),
    ...(moreExecuted !== undefined && { moreExecuted }),
  };
}

/** The sandbox of a session's shells, and the directory of their pipes. */
interface Found {
  /** Undefined: there is no sandbox. */
  readonly sandbox: SandboxPolicy | undefined;
  /** Undefined: each shell has a directory of its own. */
  readonly pipes: string | undefined;
}

/**
 * The sandbox of all shells of a session, and of the commands beside them. A sandbox is identified by its
 * policy, which contains the directory of the pipes: so all shells share one directory.
 */
export class SandboxPlace {
  readonly #policy: SandboxPolicy | undefined;
  readonly #shown: (() => Promise<SandboxPolicy | undefined>) | undefined;
  #found: Promise<Found> | undefined;

  /** @param shown Returns the policy with the paths that the shell is to see besides. Default: none. */
  constructor(policy: SandboxPolicy | undefined, shown?: () => Promise<SandboxPolicy | undefined>) {
    this.#policy = policy;
    this.#shown = shown;
  }

  /** @throws {PipesError} The directory for the pipes cannot be made. */
  async find(): Promise<Found> {
    if (this.#policy === undefined) return { sandbox: undefined, pipes: undefined };
    this.#found ??= this.#make(this.#policy);
    const looking = this.#found;
    const { pipes } = await looking;
    // The temporary directory may have been cleared.
    const isThere = pipes !== undefined && existsSync(pipes);
    if (!isThere && this.#found === looking) this.#found = this.#make(this.#policy);
    return this.#found;
  }

  /** Removes the directory of the pipes, after the last shell has ended. */
  async leave(): Promise<void> {
    const found = await this.#found?.catch(() => undefined);
    // A later host removes what cannot be removed now.
    if (found?.pipes !== undefined) await removeTemporaryDirectory(found.pipes).catch(() => {});
  }

  async #make(policy: SandboxPolicy): Promise<Found> {
    try {
      const pipes = await makePipesDirectory();
      return { sandbox: withPipes((await this.#shown?.()) ?? policy, pipes), pipes };
    } catch (error) {
      this.#found = undefined;
      throw error;
    }
  }
}
