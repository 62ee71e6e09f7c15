import type {
  Artifact,
  ArtifactDraft,
  ArtifactRange,
  ArtifactStore,
} from '../../faces/artifacts.js';
import { toBytes } from '../../faces/command.js';
import type { ToolLine } from './tool-line.js';

/** The artifacts of a tool, which stay on the far side. */
export class FarArtifacts implements ArtifactStore {
  readonly #session: ToolLine;

  constructor(session: ToolLine) {
    this.#session = session;
  }

  /**
   * Refuses: drafts are files on the machine where commands run.
   *
   * @throws Error Always.
   */
  async draft(): Promise<ArtifactDraft> {
    throw new Error('Drafts are made only on the far side, where commands write them.');
  }

  save(tool: string, data: string | Uint8Array): Promise<Artifact> {
    return this.#session.ask({ kind: 'save', tool }, undefined, (call) => {
      call.sendData(toBytes(data));
      call.endData();
    });
  }

  list(): Promise<readonly Artifact[]> {
    return this.#session.ask({ kind: 'list' });
  }

  find(id: string): Promise<Artifact> {
    return this.#session.ask({ kind: 'find', id });
  }

  async read(id: string, range?: ArtifactRange): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    await this.#session.ask({ kind: 'read', id, ...(range && { range }) }, (bytes) => {
      pieces.push(bytes);
    });
    return Buffer.concat(pieces);
  }

  /** Does nothing: the artifacts belong to the tool, and end with it. */
  async dispose(): Promise<void> {}
}
