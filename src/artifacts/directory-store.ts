import { randomBytes } from 'node:crypto';
import { appendFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onBehalfOfNobody } from '../engine/caller.js';
import { UnderWay } from '../support/pending.js';
import { formatSize } from '../support/text.js';
import { claimId } from './ids.js';
import { artifactName, draftName, parseName, toolName } from './names.js';
import {
  type ArtifactStoreOptions,
  type ArtifactStoreSettings,
  resolveStoreOptions,
} from './options.js';
import { makePrivate } from './private-directory.js';
import { readRange } from './read.js';
import {
  type Artifact,
  type ArtifactDraft,
  ArtifactError,
  type ArtifactRange,
  type ArtifactStore,
  type DraftReport,
} from './store.js';
import { sweep } from './sweep.js';
import { makeTemporaryDirectory, removeTemporaryDirectory } from './temporary-directory.js';

/**
 * A store whose artifacts are files, `<id>.<tool>.log`, in a directory. Ids count from 0 and are
 * never given twice, whichever processes use the directory and however often they restart.
 *
 * @throws {InputError} An option is not valid.
 */
export function createArtifactStore(options: ArtifactStoreOptions = {}): ArtifactStore {
  return new DirectoryStore(resolveStoreOptions(options));
}

class DirectoryStore implements ArtifactStore {
  readonly #settings: ArtifactStoreSettings;
  /** No other store's drafts begin like this. */
  readonly #draftPrefix = draftName(randomBytes(9).toString('base64url'));
  readonly #own = new Set<string>();
  readonly #underWay = new UnderWay();
  #directory: Promise<string> | undefined;
  #drafts = 0;
  #disposed = false;

  constructor(settings: ArtifactStoreSettings) {
    this.#settings = settings;
  }

  async draft(tool: string): Promise<ArtifactDraft> {
    const path = join(await this.#ready(), this.#draftName());
    return {
      path,
      maxBytes: this.#settings.maxBytes,
      keep: (report, as = tool) => this.#underWay.add(this.#keep(as, path, report)),
      discard: () => {},
    };
  }

  async save(tool: string, data: string | Uint8Array): Promise<Artifact> {
    return this.#underWay.add(
      this.#save(tool, typeof data === 'string' ? Buffer.from(data) : data),
    );
  }

  async list(): Promise<readonly Artifact[]> {
    if (this.#directory === undefined && this.#settings.directory === undefined) return [];
    const directory = await this.#ready();
    const found = (await readdir(directory)).map(async (name) => {
      const entry = parseName(name);
      if (entry?.kind !== 'artifact') return undefined;
      const path = join(directory, name);
      const bytes = await sizeOf(path);
      return bytes === undefined ? undefined : { id: entry.id, tool: entry.tool, path, bytes };
    });
    const there = (await Promise.all(found)).filter((artifact) => artifact !== undefined);
    there.sort((one, other) => one.id - other.id);
    return there.map((artifact) => ({ ...artifact, id: String(artifact.id) }));
  }

  async find(id: string): Promise<Artifact> {
    const there = this.#disposed ? [] : await this.list();
    const wanted = /^\d+$/.test(id) ? id.replace(/^0+(?=\d)/, '') : id;
    const found = there.find((artifact) => artifact.id === wanted);
    if (found !== undefined) return found;
    throw new ArtifactError(
      id,
      there.map((artifact) => artifact.id),
    );
  }

  async read(id: string, range?: ArtifactRange): Promise<Uint8Array> {
    return readRange((await this.find(id)).path, range);
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#underWay.settled();
    if (!this.#settings.removeOnDispose || this.#directory === undefined) return;
    const [directory] = await Promise.allSettled([this.#directory]);
    if (directory?.status !== 'fulfilled') return;
    if (this.#settings.directory === undefined) {
      await removeTemporaryDirectory(directory.value);
    } else {
      await Promise.all([...this.#own].map((path) => rm(path, { force: true })));
    }
  }

  #ready(): Promise<string> {
    if (this.#disposed) return Promise.reject(new Error('the artifact store was disposed'));
    // It serves later calls too.
    this.#directory ??= onBehalfOfNobody(() =>
      this.#prepare().catch((error: unknown) => {
        // The next command tries again.
        this.#directory = undefined;
        throw error;
      }),
    );
    return this.#directory;
  }

  async #prepare(): Promise<string> {
    const { directory, maxAgeMs } = this.#settings;
    if (directory === undefined) return makeTemporaryDirectory('artifacts-', maxAgeMs);
    await makePrivate(directory);
    await sweep(directory, this.#settings);
    return directory;
  }

  #draftName(): string {
    this.#drafts += 1;
    return `${this.#draftPrefix}-${this.#drafts}`;
  }

  async #save(tool: string, data: Uint8Array): Promise<Artifact> {
    const path = join(await this.#ready(), this.#draftName());
    const kept = data.subarray(0, this.#settings.maxBytes);
    return orRemove(path, async () => {
      await writeFile(path, kept, { flag: 'wx', mode: 0o600 });
      return this.#publish(tool, path, data.length - kept.length);
    });
  }

  async #keep(tool: string, path: string, report: DraftReport): Promise<Artifact | undefined> {
    if (!this.#disposed && report.bytes > 0) {
      return orRemove(path, () => this.#publish(tool, path, report.dropped, report.error?.code));
    }
    // Somebody may have removed the directory: it is made anew for the next command.
    if (report.error !== undefined) this.#directory = undefined;
    await rm(path, { force: true });
    return undefined;
  }

  /** Makes a closed file an artifact: readers see all of it or nothing. */
  async #publish(tool: string, draft: string, dropped: number, code?: string): Promise<Artifact> {
    const directory = await this.#ready();
    if (dropped > 0) await this.#tellDropped(draft, dropped, code);
    const id = await claimId(directory);
    const path = join(directory, artifactName(id, tool));
    await rename(draft, path);
    this.#own.add(path);
    await sweep(directory, this.#settings);
    return { id: String(id), tool: toolName(tool), path, bytes: (await sizeOf(path)) ?? 0 };
  }

  async #tellDropped(path: string, dropped: number, code?: string): Promise<void> {
    const why = code ?? `limit of ${formatSize(this.#settings.maxBytes)}`;
    try {
      await appendFile(path, `\n[… ${formatSize(dropped)} more were not kept: ${why} …]\n`);
    } catch {
      // The disk that is full has no room for this either; the result says it too.
    }
  }
}

/** Does what makes a draft an artifact; if that fails, the draft goes. */
async function orRemove<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch {
    // Swept meanwhile.
    return undefined;
  }
}
