import { checkMethod, checkObject, isMissing } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import type { UrlRegistry, UrlResolver } from './resolver.js';

/**
 * Creates a registry of internal URLs.
 *
 * @param resolvers By scheme. Default: none.
 * @example
 * const urls = createUrlRegistry({ local: createLocalResolver({ root: '/srv/agent/files' }) });
 * urls.register('skill', { resolve: (url) => ({ path: skillPath(url) }) });
 *
 * @throws {InputError} A name is not a scheme.
 */
export function createUrlRegistry(
  resolvers: Readonly<Record<string, UrlResolver>> = {},
): UrlRegistry {
  checkObject('resolvers', resolvers);
  const known = new Map<string, UrlResolver>();
  const registry: UrlRegistry = {
    register(scheme, resolver) {
      if (typeof scheme !== 'string' || !/^[a-z][a-z0-9+.-]*$/.test(scheme)) {
        const got = showValue(scheme);
        throw new InputError(`scheme: expected lower-case letters, digits, +, ., -, got ${got}`);
      }
      if (known.has(scheme)) {
        throw new InputError(`scheme: expected one without a resolver, ${scheme} has one already`);
      }
      if (isMissing(resolver)) checkObject('resolver', resolver);
      checkMethod('resolver', 'resolve', resolver);
      known.set(scheme, resolver);
      return () => {
        if (known.get(scheme) === resolver) known.delete(scheme);
      };
    },
    resolverOf: (scheme) => known.get(scheme),
    schemes: () => [...known.keys()],
  };
  for (const [scheme, resolver] of Object.entries(resolvers)) registry.register(scheme, resolver);
  return registry;
}
