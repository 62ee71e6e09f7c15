import { artifactResolver } from '../../../artifacts/resolver.js';
import type { ArtifactStore } from '../../../artifacts/store.js';
import type { UrlRegistry } from '../../../urls/resolver.js';

/**
 * The registry with the tool's own artifacts in it. The caller's stays as it is: two tools may share
 * one, and each has artifacts of its own. A resolver of the caller's for `artifact` comes first.
 */
export function withArtifacts(urls: UrlRegistry, store: ArtifactStore | undefined): UrlRegistry {
  if (store === undefined) return urls;
  const own = artifactResolver(store);
  return {
    register: (scheme, resolver) => urls.register(scheme, resolver),
    resolverOf: (scheme) => urls.resolverOf(scheme) ?? (scheme === own.scheme ? own : undefined),
    schemes: () => [...new Set([...urls.schemes(), own.scheme])],
  };
}
