/** The target of an internal URL. */
export interface ResolvedUrl {
  /** An absolute path in the file system. */
  readonly path: string;
}

/** Resolves the internal URLs of one scheme to paths. */
export interface UrlResolver {
  /**
   * Resolves one URL.
   *
   * @param url As the model wrote it, after the shell's quotes and escapes are removed.
   * @throws {Error} The URL has no target. The message is for the model; `unknownId` makes one.
   */
  resolve(url: string): Promise<ResolvedUrl> | ResolvedUrl;
}

/** The schemes of a runtime's internal URLs. */
export interface UrlRegistry {
  /**
   * Makes the URLs of a scheme internal.
   *
   * @param scheme Without `://`: lower-case letters, digits, `+`, `.`, `-`.
   * @returns A function that removes the scheme.
   * @throws {InputError} `scheme` is not a scheme, or has a resolver already.
   */
  register(scheme: string, resolver: UrlResolver): () => void;
  /** Returns the resolver of a scheme, if there is one. */
  resolverOf(scheme: string): UrlResolver | undefined;
  /** Lists the schemes that have a resolver, in the order of registration. */
  schemes(): readonly string[];
}

const SHOWN_IDS = 20;

/** Makes the error for an id that does not exist, and names the ids that do. */
export function unknownId(kind: string, id: string, available: readonly string[]): Error {
  const unknown = `Unknown ${kind}: ${id}.`;
  if (available.length === 0) return new Error(`${unknown} There are none.`);
  const shown = available.slice(0, SHOWN_IDS).join(', ');
  const more = available.length - SHOWN_IDS;
  return new Error(`${unknown} Available: ${shown}${more > 0 ? `, and ${more} more` : ''}.`);
}
