import type { SpillReport } from '../engine/outcome.js';
import type { SpillOptions } from '../pipeline/execute.js';
import { messageOf } from '../pipeline/message-of.js';
import type { Artifact, ArtifactDraft, ArtifactStore } from './store.js';

/** What became of a command's whole output. */
export type KeptOutput =
  /** It was short enough, or no store was there to keep it. */
  | { readonly kind: 'none' }
  /** `bytes` are in the artifact; they are all of them, or the first. */
  | {
      readonly kind: 'kept';
      readonly artifact: Artifact;
      readonly complete: boolean;
      readonly bytes: number;
    }
  | { readonly kind: 'failed'; readonly reason: string };

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
    try {
      return new OutputKeeper(await store.draft(tool));
    } catch (error) {
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
      this.#draft.discard();
      return { kind: 'none' };
    }
    try {
      const artifact = await this.#draft.keep(report, tool);
      if (artifact !== undefined) {
        return { kind: 'kept', artifact, complete: report.dropped === 0, bytes: report.bytes };
      }
      const { error } = report;
      return { kind: 'failed', reason: error ? `${error.code}: ${error.message}` : 'not kept' };
    } catch (error) {
      return { kind: 'failed', reason: messageOf(error) };
    }
  }

  /** The command never ran. */
  abandon(): void {
    this.#draft?.discard();
  }
}
