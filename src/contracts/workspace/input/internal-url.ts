import { InputError, messageOf } from '../../../support/errors.js';
import type { UrlRegistry } from '../../../urls/resolver.js';

/** Always internal, so that one without a resolver is an error and no odd file name. */
const ALWAYS_INTERNAL: ReadonlySet<string> = new Set([
  ...['skill', 'agent', 'artifact', 'memory', 'rule', 'local', 'plan'],
]);

/** The scheme of an internal URL; undefined when `text` is not one, such as `https://…`. */
export function internalScheme(text: string, registry: UrlRegistry): string | undefined {
  const [, scheme, second] = /^([a-z][a-z0-9+.-]*):\/(\/?)/.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  // Of the others, only `scheme://`: `c:/x` and `host:/path` are not URLs.
  if (second === '' && scheme !== 'local') return undefined;
  const internal = ALWAYS_INTERNAL.has(scheme) || registry.resolverOf(scheme) !== undefined;
  return internal ? scheme : undefined;
}

/** A quick look: without this, there is no internal URL in a text. */
export function mayHaveUrl(text: string, registry: UrlRegistry): boolean {
  if (!text.includes(':/')) return false;
  if (text.includes('local:/')) return true;
  const schemes = [...ALWAYS_INTERNAL, ...registry.schemes()];
  return schemes.some((scheme) => text.includes(`${scheme}://`));
}

/**
 * The path that an internal URL stands for.
 *
 * @throws {InputError} Nothing resolves its scheme, or its resolver failed.
 */
export async function resolveUrl(
  url: string,
  scheme: string,
  registry: UrlRegistry,
): Promise<string> {
  const resolver = registry.resolverOf(scheme);
  if (resolver === undefined) throw new InputError(unsupported(url, scheme, registry));
  let path: unknown;
  try {
    path = (await resolver.resolve(url)).path;
  } catch (error) {
    const why = messageOf(error);
    throw new InputError(unresolved(url, scheme, why), { cause: error });
  }
  if (typeof path === 'string' && path.startsWith('/') && !path.includes('\0')) return path;
  throw new InputError(unresolved(url, scheme, 'Its resolver did not return an absolute path.'));
}

function unsupported(url: string, scheme: string, registry: UrlRegistry): string {
  const schemes = registry.schemes().map((each) => `${each}://`);
  const there = schemes.length === 0 ? 'No scheme has one.' : `Supported: ${schemes.join(', ')}.`;
  return (
    `Unsupported internal URL in bash command: ${url}\n` +
    `There is no resolver for ${scheme}:// here. ${there}`
  );
}

function unresolved(url: string, scheme: string, why: string): string {
  return `Cannot resolve ${scheme}:// URL in bash command: ${url}\n${why}`;
}
