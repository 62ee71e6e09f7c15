/** What an internal URL stands for. */
export interface ResolvedUrl {
  /** A path in the file system, absolute. */
  readonly path: string;
}

/** Turns the internal URLs of one scheme into paths. */
export interface UrlResolver {
  /**
   * @param url As the model wrote it, after the shell's quotes and escapes are taken away.
   * @throws {Error} It stands for nothing. The message is for the model; `unknownId` makes one.
   */
  resolve(url: string): Promise<ResolvedUrl> | ResolvedUrl;
}

/** The schemes that a runtime's internal URLs may have. */
export interface UrlRegistry {
  /**
   * Makes the URLs of a scheme internal.
   *
   * @param scheme Without `://`: lower-case letters, digits, `+`, `.`, `-`.
   * @returns Takes the scheme back.
   * @throws {InputError} It is not a scheme, or it has a resolver already.
   */
  register(scheme: string, resolver: UrlResolver): () => void;
  /** The resolver of a scheme, if there is one. */
  resolverOf(scheme: string): UrlResolver | undefined;
  /** Schemes that have a resolver, in the order in which they came. */
  schemes(): readonly string[];
}

const SHOWN_IDS = 20;

/** The error for an id that does not exist, with those that do. */
export function unknownId(kind: string, id: string, available: readonly string[]): Error {
  const unknown = `Unknown ${kind}: ${id}.`;
  if (available.length === 0) return new Error(`${unknown} There are none.`);
  const shown = available.slice(0, SHOWN_IDS).join(', ');
  const more = available.length - SHOWN_IDS;
  return new Error(`${unknown} Available: ${shown}${more > 0 ? `, and ${more} more` : ''}.`);
}
