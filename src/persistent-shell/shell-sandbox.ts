import { existsSync } from 'node:fs';
import { removeTemporaryDirectory } from '../artifacts/temporary-directory.js';
import { runApart } from '../command/promise.js';
import type { Capture } from '../engine/outcome.js';
import type { Owner } from '../engine/owner.js';
import type { SandboxReport } from '../engine/sandbox-report.js';
import { withDenials } from '../sandbox/denials/denials.js';
import { sandboxEnvironment } from '../sandbox/environment.js';
import {
  type CheckoutMarks,
  lookingCommand,
  withCheckoutsSince,
} from '../sandbox/git/checkout/checkout.js';
import { markCheckouts } from '../sandbox/git/checkout/mark.js';
import { refuseSecrets, sandboxOfCommand } from '../sandbox/of-command.js';
import { withPipes } from '../sandbox/pipes.js';
import type { SandboxPolicy } from '../sandbox/policy.js';
import type { ResolvedSandbox } from '../sandbox/resolve.js';
import { makePipesDirectory } from './pipes.js';

/** A call as far as it tells what it was denied. */
interface SandboxedCall {
  readonly stdout: Capture;
  readonly stderr: Capture;
  readonly durationMs: number;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
  /** Where it began; undefined: that could not be seen. */
  readonly from: string | undefined;
  /** What {@link ShellSandbox.mark} gave then. */
  readonly marks: CheckoutMarks;
}

/** Where, with what and for whom a shell is started. */
interface ShellPlace {
  readonly cwd: string;
  /** Its environment block. */
  readonly environment: string;
  readonly owner?: Owner | undefined;
}

/** The sandbox of a shell, and what that denies each of its calls. */
export class ShellSandbox {
  /** With which the shell is to be started. */
  readonly policy: SandboxPolicy;
  readonly #cwd: string;
  readonly #resolved: ResolvedSandbox;
  readonly #environment: string;
  readonly #owner: Owner | undefined;

  /**
   * @param policy With the pipes by which the shell talks to us.
   * @param start Where, with what and for whom it is started.
   * @throws {InputError} The directory is the whole file system.
   */
  constructor(policy: SandboxPolicy, { cwd, environment, owner }: ShellPlace) {
    this.policy = policy;
    this.#cwd = cwd;
    this.#environment = environment;
    this.#owner = owner;
    this.#resolved = sandboxOfCommand(this.policy, cwd, '');
  }

  /** @throws {InputError} A call's text has a secret in it. */
  check(text: string): void {
    refuseSecrets(text, this.#resolved);
  }

  /** How git's working trees stand before a call. */
  mark(): CheckoutMarks {
    return markCheckouts(this.#resolved);
  }

  /** @param known What the engine has told since the call before; undefined: nothing. */
  async reportOf(
    { stdout, stderr, durationMs, startedAt, from = this.#cwd, marks }: SandboxedCall,
    known: SandboxReport | undefined,
  ): Promise<SandboxReport | undefined> {
    if (known === undefined) return undefined;
    // Of a shell that has ended, the rest is of all its calls.
    const { incomplete: _, ...ofAll } = known;
    const denials = ofAll.denials.filter(({ source }) => source === 'kernel');
    const call = { stdout, stderr, durationMs, sandbox: { ...ofAll, denials } };
    const told = await withDenials(call, this.#resolved, from, startedAt);
    const place = {
      environment: sandboxEnvironment(this.#environment, this.#resolved),
      sandbox: this.#resolved,
      directory: from,
    };
    const run = (script: string, args: readonly string[]) =>
      runApart(lookingCommand(place, script, args), this.#owner);
    return (await withCheckoutsSince(told, marks, run)).sandbox;
  }
}

/** The sandbox of a session's shells, and where their pipes are. */
interface Found {
  /** Undefined: there is none. */
  readonly sandbox: SandboxPolicy | undefined;
  /** Undefined: each shell has a directory of its own. */
  readonly pipes: string | undefined;
}

/**
 * What the shells of a session are in, one after the other, and all that runs beside them. A sandbox is
 * known by its policy, which the pipes are part of: so it is one directory for all of them.
 */
export class SandboxPlace {
  readonly #policy: SandboxPolicy | undefined;
  #found: Promise<Found> | undefined;

  constructor(policy: SandboxPolicy | undefined) {
    this.#policy = policy;
  }

  /** @throws {PipesError} There is no place for the pipes. */
  async find(): Promise<Found> {
    if (this.#policy === undefined) return { sandbox: undefined, pipes: undefined };
    this.#found ??= this.#make(this.#policy);
    const looking = this.#found;
    const { pipes } = await looking;
    // Somebody may have cleared the temporary directory.
    const isThere = pipes !== undefined && existsSync(pipes);
    if (!isThere && this.#found === looking) this.#found = this.#make(this.#policy);
    return this.#found;
  }

  /** Nobody talks by them any more. */
  async leave(): Promise<void> {
    const found = await this.#found?.catch(() => undefined);
    // What can't be removed now, a later host removes.
    if (found?.pipes !== undefined) await removeTemporaryDirectory(found.pipes).catch(() => {});
  }

  async #make(policy: SandboxPolicy): Promise<Found> {
    try {
      const pipes = await makePipesDirectory();
      return { sandbox: withPipes(policy, pipes), pipes };
    } catch (error) {
      this.#found = undefined;
      throw error;
    }
  }
}
