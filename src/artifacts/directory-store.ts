import { constants } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { onBehalfOfNobody } from '../engine/caller.js';
import { inBatches } from '../support/batches.js';
import {
  type HostDirectory,
  inDirectory,
  removeHostFile,
} from '../support/directories/host-files.js';
import { makePrivate } from '../support/directories/private-directory.js';
import { hasCode } from '../support/errors.js';
import { uniqueName } from '../support/random.js';
import { formatSize } from '../support/text.js';
import { UnderWay } from '../support/timing.js';
import { noneIfRemoved, orRemove, setTimes, sizeOf, tellDropped } from './draft-files.js';
import { nameEarly, nameFinally } from './early.js';
import { claimId, type IdFloor, idFloor } from './ids.js';
import { artifactName, draftName, type Entry, parseName, toolName } from './names.js';
import {
  type ArtifactStoreOptions,
  type ArtifactStoreSettings,
  resolveStoreOptions,
} from './options.js';
import { readRange } from './read.js';
import {
  type Artifact,
  type ArtifactDraft,
  ArtifactError,
  type ArtifactRange,
  type ArtifactStore,
  type DraftReport,
} from './store.js';
import { Sweeper } from './sweeper.js';
import { makeTemporaryDirectory, removeTemporaryDirectory } from './temporary-directory.js';

/**
 * Creates a store whose artifacts are files, `<id>.<tool>.log`, in a directory. Ids count from 0 and are
 * never used twice, whichever processes use the directory and however often they restart.
 *
 * @throws {InputError} An option is not valid.
 */
export function createArtifactStore(options: ArtifactStoreOptions = {}): ArtifactStore {
  return new DirectoryStore(resolveStoreOptions(options));
}

/** Time that a disposal may spend on bringing a directory within its limits. */
const LAST_SWEEP_MS = 1000;

class DirectoryStore implements ArtifactStore {
  readonly #settings: ArtifactStoreSettings;
  /** The prefix of this store's drafts, unlike that of any other store. */
  readonly #draftPrefix = draftName(uniqueName());
  /** Paths of the artifacts that this store has made and that have not been swept. */
  readonly #own = new Set<string>();
  readonly #ids: IdFloor;
  readonly #sweeper: Sweeper;
  readonly #underWay = new UnderWay();
  #directory: Promise<string> | undefined;
  #drafts = 0;
  #disposed = false;

  constructor(settings: ArtifactStoreSettings) {
    this.#settings = settings;
    this.#ids = idFloor(settings.directory);
    this.#sweeper = new Sweeper(settings, (paths) => {
      for (const path of paths) this.#own.delete(path);
    });
  }

  async draft(tool: string): Promise<ArtifactDraft> {
    // Every command comes through here, so no path has to be resolved.
    const path = `${await this.#ready()}/${this.#draftName()}`;
    let early: Promise<Artifact | undefined> | undefined;
    return {
      path,
      maxBytes: this.#settings.maxBytes,
      publish: () => {
        const publishing = early?.then((known) => known ?? this.#link(tool, path));
        early = this.#underWay.add(publishing ?? this.#link(tool, path));
        return early;
      },
      keep: (report, as = tool) =>
        this.#underWay.add(
          this.#keep(
            as,
            path,
            report,
            early?.catch(() => undefined),
          ),
        ),
      discard: () => {},
    };
  }

  async save(tool: string, data: string | Uint8Array): Promise<Artifact> {
    return this.#underWay.add(
      this.#save(tool, typeof data === 'string' ? Buffer.from(data) : data),
    );
  }

  async list(): Promise<readonly Artifact[]> {
    if (!this.#isUsed()) return [];
    const directory = await this.#ready();
    await this.#sweeper.finish(directory);
    const there = await this.#entries(directory);
    const found = await inBatches(there, (entry) => this.#artifact(directory, entry));
    return found.filter((artifact) => artifact !== undefined);
  }

  async find(id: string): Promise<Artifact> {
    const wanted = /^\d+$/.test(id) ? id.replace(/^0+(?=\d)/, '') : id;
    if (!this.#disposed && this.#isUsed()) {
      const directory = await this.#ready();
      const entry = (await this.#entries(directory)).find((one) => String(one.id) === wanted);
      const found = entry && (await this.#artifact(directory, entry));
      if (found !== undefined) return found;
    }
    const there = this.#disposed ? [] : await this.list();
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
    const [directory] = await Promise.allSettled([this.#directory]);
    if (directory?.status !== 'fulfilled' || directory.value === undefined) return;
    await this.#sweeper.stop(directory.value, this.#settings.removeOnDispose ? 0 : LAST_SWEEP_MS);
    if (!this.#settings.removeOnDispose) return;
    if (this.#settings.directory === undefined) {
      await removeTemporaryDirectory(directory.value);
    } else {
      await Promise.all([...this.#own].map(removeHostFile));
    }
  }

  /** A directory of the store's own does not exist before it is needed. */
  #isUsed(): boolean {
    return this.#directory !== undefined || this.#settings.directory !== undefined;
  }

  /** Lists the artifacts by ascending ids. */
  async #entries(directory: string): Promise<ArtifactEntry[]> {
    const names = await inDirectory(directory, ({ at }) => readdir(at('.'))).catch(noneIfRemoved);
    const entries = names.flatMap((name) => parseName(name) ?? []);
    return entries.filter((entry) => entry.kind === 'artifact').sort((a, b) => a.id - b.id);
  }

  /** Returns undefined for an artifact that was swept meanwhile. */
  async #artifact(directory: string, entry: ArtifactEntry): Promise<Artifact | undefined> {
    const path = join(directory, entry.name);
    const bytes = await sizeOf(directory, entry.name);
    return bytes === undefined
      ? undefined
      : { id: String(entry.id), tool: entry.tool, path, bytes };
  }

  #ready(): Promise<string> {
    if (this.#disposed) return Promise.reject(new Error('the artifact store was disposed'));
    // The directory serves later calls too, so its async context is not this call's.
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
    this.#sweeper.begin(directory);
    return directory;
  }

  #draftName(): string {
    this.#drafts += 1;
    return `${this.#draftPrefix}-${this.#drafts}`;
  }

  async #save(tool: string, data: Uint8Array): Promise<Artifact> {
    try {
      return await this.#write(tool, data);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      // The directory was removed: it is made again.
      this.#directory = undefined;
      return this.#write(tool, data);
    }
  }

  async #write(tool: string, data: Uint8Array): Promise<Artifact> {
    const directory = await this.#ready();
    const draft = this.#draftName();
    const kept = data.subarray(0, this.#settings.maxBytes);
    return inDirectory(directory, (place) =>
      orRemove(place, draft, async () => {
        const file = await place.open(draft, NEW, 0o600);
        await file.writeFile(kept).finally(() => file.close());
        return this.#publish(tool, directory, place, draft, data.length - kept.length);
      }),
    );
  }

  /** Gives a file that is still written the name of an artifact too. */
  async #link(tool: string, path: string): Promise<Artifact | undefined> {
    const directory = await this.#ready();
    const named = await inDirectory(directory, (place) =>
      nameEarly(place, basename(path), tool, this.#ids),
    );
    if (named === undefined) return undefined;
    const own = join(directory, named.name);
    this.#own.add(own);
    return { id: String(named.id), tool: toolName(tool), path: own, bytes: named.bytes };
  }

  async #keep(
    tool: string,
    path: string,
    report: DraftReport,
    early?: Promise<Artifact | undefined>,
  ): Promise<Artifact | undefined> {
    if (!this.#disposed && report.bytes > 0) {
      try {
        const { dropped, error } = report;
        const directory = await this.#ready();
        const draft = basename(path);
        const known = await early;
        return await inDirectory(directory, (place) =>
          orRemove(place, draft, () =>
            this.#publish(tool, directory, place, draft, dropped, error?.code, known),
          ),
        );
      } catch (error) {
        if (hasCode(error, 'ENOENT')) this.#directory = undefined;
        throw error;
      }
    }
    // The directory may have been removed: the next command makes it again.
    if (report.error !== undefined) this.#directory = undefined;
    // The report names the error of a file that could not be opened; one that cannot be removed goes with
    // its age.
    await removeHostFile(path).catch(() => {});
    return undefined;
  }

  /** Why a part of an output is not in its file, unless there was an error. */
  get #limit(): string {
    return `limit of ${formatSize(this.#settings.maxBytes)}`;
  }

  /** Makes a closed file an artifact, so that readers see all of it or nothing. */
  async #publish(
    tool: string,
    directory: string,
    place: HostDirectory,
    draft: string,
    dropped: number,
    code?: string,
    early?: Artifact,
  ): Promise<Artifact> {
    const file = await place.open(draft, constants.O_WRONLY | constants.O_APPEND);
    try {
      if (dropped > 0) await tellDropped(file, dropped, code ?? this.#limit);
      const { size } = await place.look(draft);
      const id = early === undefined ? await claimId(place, this.#ids) : Number(early.id);
      const name = artifactName(id, tool);
      // The age counts from the artifact's publication, not from the command's last output.
      const now = new Date();
      await setTimes(file.fd, now, now);
      await nameFinally(place, draft, name, early?.path);
      const path = join(directory, name);
      this.#own.add(path);
      this.#sweeper.published(directory, path, size);
      return { id: String(id), tool: toolName(tool), path, bytes: size };
    } finally {
      await file.close();
    }
  }
}

const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

type ArtifactEntry = Extract<Entry, { kind: 'artifact' }>;
