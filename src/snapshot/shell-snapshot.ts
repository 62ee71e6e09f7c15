import { access, constants, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  makeTemporaryDirectory,
  removeTemporaryDirectory,
} from '../artifacts/temporary-directory.js';
import { execute } from '../command/execute.js';
import { createOwner } from '../engine/owner.js';
import { messageOf } from '../support/errors.js';
import { captureCommand, parseCapture } from './capture-script.js';
import { keptVariables } from './kept-variables.js';
import { snapshotText } from './snapshot-text.js';

/** How a snapshot is made. */
interface SnapshotSource {
  /** Absolute. */
  readonly rcFile: string;
  readonly timeoutMs: number;
  /** The environment block that the rc file finds. */
  readonly environment: () => string;
  readonly shell: readonly string[] | undefined;
  /** Whether commands may have a variable that the rc file has set; by name and declaration. */
  readonly mayKeep: (name: string, declaration: string) => boolean;
}

/** What commands take from a snapshot. */
export interface ReadySnapshot {
  /** To be sourced before a command. */
  readonly file: string;
  /** `PATH` after the rc file. */
  readonly path: string;
  /** Variables that the rc file has exported. */
  readonly exported: Readonly<Record<string, string>>;
  /** A pipeline fails when any of its programs does. */
  readonly pipefail: boolean;
}

const PREFIX = 'snapshot-';
const MAX_AGE_MS = 7 * 24 * 3600 * 1000;
const MAX_DUMP_BYTES = 8 * 1024 * 1024;
/** An interactive bash ignores SIGTERM; what it runs need not be asked twice. */
const GRACE_MS = 50;

/**
 * What an rc file of the user leaves in an interactive bash, kept in a file. It is captured once,
 * when it is first needed. If that fails there is none, which is told once.
 */
export class ShellSnapshot {
  readonly #source: SnapshotSource;
  readonly #warn: (message: string) => void;
  /**
   * An owner of its own: what the rc file starts, such as an agent for keys, goes when it has been
   * read.
   */
  readonly #owner = createOwner();
  #captured: Promise<ReadySnapshot | undefined> | undefined;
  #directory: string | undefined;
  #disposed = false;

  constructor(source: SnapshotSource, warn: (message: string) => void) {
    this.#source = source;
    this.#warn = warn;
  }

  /** The snapshot; undefined: there is none. */
  ready(): Promise<ReadySnapshot | undefined> {
    this.#captured ??= this.#disposed ? Promise.resolve(undefined) : this.#capture();
    return this.#captured;
  }

  /** Removes it. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#owner.dispose(GRACE_MS);
    await this.#captured;
    if (this.#directory !== undefined) await removeTemporaryDirectory(this.#directory);
  }

  async #capture(): Promise<ReadySnapshot | undefined> {
    try {
      this.#directory = await makeTemporaryDirectory(PREFIX, MAX_AGE_MS);
      return await this.#captureInto(this.#directory);
    } catch (error) {
      if (this.#disposed) return undefined;
      const reason = messageOf(error);
      this.#warn(`shellSnapshot: none is used, ${this.#source.rcFile}: ${reason}`);
      return undefined;
    }
  }

  async #captureInto(directory: string): Promise<ReadySnapshot> {
    const { rcFile, timeoutMs, environment, shell } = this.#source;
    // Not found is better told by the system than by a shell that says nothing.
    await access(rcFile, constants.R_OK);
    const dump = join(directory, 'dump');
    const { outcome, spill } = await execute(captureCommand(rcFile), environment(), {
      cwd: '/',
      timeoutMs,
      graceMs: GRACE_MS,
      headBytes: 0,
      tailBytes: 0,
      spill: { path: dump, maxBytes: MAX_DUMP_BYTES },
      owner: this.#owner,
      shell,
    });
    await this.#owner.dispose(GRACE_MS);
    if (outcome.kind === 'timedOut') throw new Error(`not read within ${timeoutMs} ms`);
    if ((spill?.dropped ?? 0) > 0) throw new Error(`leaves more than ${MAX_DUMP_BYTES} bytes`);
    const captured = parseCapture(await readFile(dump, 'latin1'));
    await rm(dump);
    if (captured === undefined) throw new Error('it ended the shell, or that is not bash');
    const file = join(directory, 'snapshot');
    const { exported, declarations } = keptVariables(captured, this.#source.mayKeep);
    const text = snapshotText(captured, declarations);
    await writeFile(file, text, { encoding: 'latin1', mode: 0o600 });
    const pipefail = captured.optionsAfter.includes('set -o pipefail');
    return {
      file,
      path: Buffer.from(captured.path, 'latin1').toString('utf8'),
      exported,
      pipefail,
    };
  }
}
