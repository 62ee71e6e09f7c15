import { checkObject } from '../support/checks.js';
import { InputError } from '../support/errors.js';
import type { ArtifactStore } from './store.js';

/** Resolves `artifact://ID` to the path of its file. */
export interface ArtifactResolver {
  readonly scheme: 'artifact';
  /**
   * Resolves one URL.
   *
   * @throws {InputError} `url` is not `artifact://` with a number.
   * @throws {ArtifactError} There is no artifact with this id; the message lists the ids there are.
   */
  resolve(url: string): Promise<{ readonly path: string }>;
}

const URL_PATTERN = /^artifact:\/\/(?<id>\d+)\/?$/i;

/**
 * Creates the resolver of a store's URLs, for a registry of internal URLs.
 *
 * @throws {InputError} The store is not an object.
 */
export function artifactResolver(store: Pick<ArtifactStore, 'find'>): ArtifactResolver {
  checkObject('store', store);
  return {
    scheme: 'artifact',
    async resolve(url) {
      const id = URL_PATTERN.exec(url)?.groups?.id;
      if (id === undefined) {
        throw new InputError(`${url}: expected artifact:// and a number, such as artifact://0`);
      }
      const { path } = await store.find(id);
      return { path };
    },
  };
}
