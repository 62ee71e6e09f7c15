import { isAbsolute } from 'node:path';
import type { SpillReport } from '../engine/outcome.js';
import type { SpillOptions } from '../options/command-options.js';
import { messageOf } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { withinTime } from '../support/timing.js';
import type { Artifact, ArtifactDraft, ArtifactStore } from './store.js';

/** What became of a command's whole output. */
export type KeptOutput =
  /** It was short enough, or no store was there to keep it. */
  | { readonly kind: 'none' }
  /** `bytes` are in the artifact; they are all of them, or the first, and `missing` are not. */
  | {
      readonly kind: 'kept';
      readonly artifact: Artifact;
      readonly complete: boolean;
      readonly bytes: number;
      readonly missing: number;
    }
  | { readonly kind: 'failed'; readonly reason: string };

/** Time that a store has to name a place; the command has not begun. */
const OPEN_MS = 5000;
/** Time that it has for what may take a copy of all of it; the command is over. */
const KEEP_MS = 30_000;

/** The way of one command's output into a store. Nothing here fails the command. */
export class OutputKeeper {
  readonly #draft: ArtifactDraft | undefined;
  readonly #failure: string | undefined;

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
      // One that comes too late is not used.
      opening.then(discard, () => {});
      return new OutputKeeper(undefined, messageOf(error));
    }
  }

  /** For the engine: a file for output longer than so many bytes. */
  spill(afterBytes: number): SpillOptions | undefined {
    if (this.#draft === undefined) return undefined;
    return { path: this.#draft.path, maxBytes: this.#draft.maxBytes, afterBytes };
  }

  /**
   * The command has ended; `report` says what is in the file, if one was made.
   *
   * @param tool Another name than the one it was opened with.
   */
  async finish(report: SpillReport | undefined, tool?: string): Promise<KeptOutput> {
    if (this.#draft === undefined) {
      return this.#failure === undefined
        ? { kind: 'none' }
        : { kind: 'failed', reason: this.#failure };
    }
    if (report === undefined) {
      this.abandon();
      return { kind: 'none' };
    }
    const draft = this.#draft;
    try {
      const artifact = await answerOf(draft.keep(report, tool), KEEP_MS);
      if (artifact !== undefined) {
        checkArtifact(artifact);
        // With an error less may be there than was written: somebody has changed the file.
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

  /** The command never ran. */
  abandon(): void {
    if (this.#draft !== undefined) void discard(this.#draft);
  }
}

/** Keeps a text that is in memory; nothing here fails the command. */
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

/** A runtime's own store may be stuck: its answer is not waited for any longer. */
function answerOf<T>(answer: Promise<T>, ms: number): Promise<T> {
  return withinTime(answer, ms, `the artifact store did not answer within ${ms / 1000} seconds`);
}

async function openDraft(store: ArtifactStore, tool: string): Promise<ArtifactDraft> {
  const draft = await store.draft(tool);
  const { path, maxBytes } = draft;
  if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\0')) {
    throw new TypeError(`path of the artifact store's draft: expected an absolute one`);
  }
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 0) {
    throw new TypeError(`maxBytes of the artifact store's draft: expected a whole number from 0`);
  }
  return draft;
}

/** What a store of the runtime's own says was checked by nobody. */
function checkArtifact({ id, bytes }: Artifact): void {
  if (typeof id === 'string' && Number.isFinite(bytes)) return;
  throw new TypeError('the artifact store did not return an artifact');
}

/** Never rejects: the command is not to fail because a store does. */
async function discard(draft: ArtifactDraft): Promise<void> {
  try {
    await draft.discard();
  } catch (error) {
    warnHost(`the artifact store's discard() failed: ${messageOf(error)}`);
  }
}
