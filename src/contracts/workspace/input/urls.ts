import { artifactResolver } from '../../../artifacts/resolver.js';
import type { ArtifactStore } from '../../../artifacts/store.js';
import type { UrlRegistry } from '../../../urls/resolver.js';

/**
 * Returns a registry that also resolves the tool's own artifacts. The caller's registry is not changed, since
 * two tools may share it, each with artifacts of its own. The caller's resolver for `artifact` comes first.
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
