import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { SpillReport } from '../engine/outcome.js';
import type { SpillOptions } from '../options/command-options.js';
import { removeHostFile } from '../support/directories/host-files.js';
import { callOut, messageOf } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { withinTime } from '../support/timing.js';
import type { Artifact, ArtifactDraft, ArtifactStore } from './store.js';

/** The fate of a command's whole output. */
export type KeptOutput =
  /** The output was short enough, or there was no store to keep it. */
  | { readonly kind: 'none' }
  /** The artifact has `bytes` of the output, all or the first; `missing` bytes are not in it. */
  | {
      readonly kind: 'kept';
      readonly artifact: Artifact;
      readonly complete: boolean;
      readonly bytes: number;
      readonly missing: number;
    }
  | { readonly kind: 'failed'; readonly reason: string };

/** Time for a store to name a path, before the command begins. */
const OPEN_MS = 5000;
/** Time for a store to keep the output, which may need a copy, after the command has ended. */
const KEEP_MS = 30_000;

/** Takes one command's output into a store. No failure in it fails the command. */
export class OutputKeeper {
  readonly #draft: ArtifactDraft | undefined;
  readonly #failure: string | undefined;
  #isNamed = false;

  private constructor(draft: ArtifactDraft | undefined, failure?: string) {
    this.#draft = draft;
    this.#failure = failure;
  }

  /** @param store Undefined: nothing is kept. */
  static async open(store: ArtifactStore | undefined, tool: string): Promise<OutputKeeper> {
    if (store === undefined) return new OutputKeeper(undefined);
    const opening = openDraft(store, tool);
    try {
      return new OutputKeeper(await answerOf(opening, OPEN_MS));
    } catch (error) {
      // A draft that comes too late is discarded.
      opening.then(discard, () => {});
      return new OutputKeeper(undefined, messageOf(error));
    }
  }

  /** Returns the engine's options for a file that takes output longer than `afterBytes`. */
  spill(afterBytes: number): SpillOptions | undefined {
    if (this.#draft === undefined) return undefined;
    return { path: this.#draft.path, maxBytes: this.#draft.maxBytes, afterBytes };
  }

  /**
   * Names the file of a command that still runs. From now on it keeps its name, if the store can do that.
   *
   * @returns Undefined: nothing is kept, or the output is too short as yet.
   */
  async soFar(): Promise<{ readonly path: string; readonly id?: string | undefined } | undefined> {
    const draft = this.#draft;
    if (draft === undefined) return undefined;
    try {
      const publishing = draft.publish?.().catch(() => undefined) ?? Promise.resolve(undefined);
      const artifact = await answerOf(publishing, OPEN_MS);
      if (artifact === undefined && !(await stat(draft.path)).isFile()) return undefined;
      this.#isNamed = true;
      return artifact ?? { path: draft.path };
    } catch {
      return undefined;
    }
  }

  /** Whether the model may know of the file, so that it must stay. */
  get isNamed(): boolean {
    return this.#isNamed;
  }

  /**
   * Keeps the output of a command that has ended; `report` describes the file, if one was made. Without a
   * file, as for nearly every command, there is nothing to wait for.
   *
   * @param tool A name other than the one it was opened with.
   */
  finish(report: SpillReport | undefined, tool?: string): KeptOutput | Promise<KeptOutput> {
    if (this.#draft === undefined) {
      return this.#failure === undefined
        ? { kind: 'none' }
        : { kind: 'failed', reason: this.#failure };
    }
    if (report === undefined) {
      this.abandon();
      return { kind: 'none' };
    }
    return this.#keep(this.#draft, report, tool);
  }

  async #keep(
    draft: ArtifactDraft,
    report: SpillReport,
    tool: string | undefined,
  ): Promise<KeptOutput> {
    try {
      const artifact = await answerOf(draft.keep(report, tool), KEEP_MS);
      if (artifact !== undefined) {
        checkArtifact(artifact);
        // With an error, the file may have less than was written, since another process changed it.
        const isAsWritten = report.error === undefined;
        const complete = isAsWritten && report.dropped === 0;
        const bytes = isAsWritten ? report.bytes : Math.min(report.bytes, artifact.bytes);
        const missing = report.bytes + report.dropped - bytes;
        return { kind: 'kept', artifact, complete, bytes, missing };
      }
      const { error } = report;
      return { kind: 'failed', reason: error ? `${error.code}: ${error.message}` : 'not kept' };
    } catch (error) {
      return { kind: 'failed', reason: messageOf(error) };
    }
  }

  /** Removes the file of a command that has ended and whose output is not kept, if one was made. */
  async drop(report: SpillReport | undefined): Promise<void> {
    if (report !== undefined) await removeHostFile(report.path).catch(() => {});
  }

  /** Discards the draft of a command that never ran. */
  abandon(): void {
    if (this.#draft !== undefined) discard(this.#draft);
  }
}

/** Keeps a text that is in memory. A failure does not fail the command. */
export async function keepText(
  store: ArtifactStore,
  tool: string,
  text: string,
): Promise<KeptOutput> {
  try {
    const artifact = await answerOf(store.save(tool, text), KEEP_MS);
    checkArtifact(artifact);
    const total = Buffer.byteLength(text);
    const bytes = Math.min(total, artifact.bytes);
    const complete = artifact.bytes === total;
    return { kind: 'kept', artifact, complete, bytes, missing: total - bytes };
  } catch (error) {
    return { kind: 'failed', reason: messageOf(error) };
  }
}

/** Limits the wait for a store: a runtime's own store may be stuck. */
function answerOf<T>(answer: Promise<T>, ms: number): Promise<T> {
  return withinTime(answer, ms, `the artifact store did not answer within ${ms / 1000} seconds`);
}

async function openDraft(store: ArtifactStore, tool: string): Promise<ArtifactDraft> {
  const draft = await store.draft(tool);
  const { path, maxBytes } = draft;
  if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\0')) {
    throw new TypeError(`path of the artifact store's draft: expected an absolute path`);
  }
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 0) {
    throw new TypeError(`maxBytes of the artifact store's draft: expected a whole number from 0`);
  }
  return draft;
}

/** Checks the answer of a runtime's own store. */
function checkArtifact({ id, bytes }: Artifact): void {
  if (typeof id === 'string' && Number.isFinite(bytes)) return;
  throw new TypeError('the artifact store did not return an artifact');
}

/** A store's failure must not fail the command. */
function discard(draft: ArtifactDraft): void {
  void callOut(() => draft.discard(), warnOfDiscard);
}

function warnOfDiscard(error: unknown): void {
  warnHost(`the artifact store's discard() failed: ${messageOf(error)}`);
}
