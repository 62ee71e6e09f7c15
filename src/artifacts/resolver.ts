import { checkObject } from '../support/checks.js';
import { InputError } from '../support/errors.js';
import type { ArtifactStore } from './store.js';

/** Turns `artifact://ID` into the path of its file. */
export interface ArtifactResolver {
  readonly scheme: 'artifact';
  /**
   * @throws {InputError} It is not `artifact://` with a number.
   * @throws {ArtifactError} There is none with this id; the message says which there are.
   */
  resolve(url: string): Promise<{ readonly path: string }>;
}

const URL_PATTERN = /^artifact:\/\/(?<id>\d+)\/?$/i;

/**
 * The resolver of a store's URLs, for a registry of internal URLs.
 *
 * @throws {InputError} The store is no object.
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
