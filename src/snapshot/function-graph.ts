/**
 * A graph of which functions name which, by the words of their texts: it may have too many edges, but not
 * too few.
 */
export class FunctionGraph {
  readonly #definitions: ReadonlyMap<string, string>;
  readonly #mentions = new Map<string, readonly string[]>();

  /** @param definitions Definitions of functions, by name. */
  constructor(definitions: ReadonlyMap<string, string>) {
    this.#definitions = definitions;
  }

  /** Returns the functions that a text names. */
  namedIn(text: string): string[] {
    return (text.match(WORD) ?? []).filter((word) => this.#definitions.has(word));
  }

  /** Returns these functions, those that they name, and so on. */
  reachedFrom(names: Iterable<string>): Set<string> {
    const reached = new Set<string>();
    const waiting = [...names];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (reached.has(name)) continue;
      reached.add(name);
      waiting.push(...this.#namedBy(name));
    }
    return reached;
  }

  /** Returns these functions, those that name them, and so on. */
  reaching(names: Iterable<string>): Set<string> {
    const found = new Set(names);
    if (found.size === 0) return found;
    const callers = this.#callers();
    // Iteration over a set includes elements that are added on the way.
    for (const name of found) {
      for (const caller of callers.get(name) ?? []) found.add(caller);
    }
    return found;
  }

  #namedBy(name: string): readonly string[] {
    const known = this.#mentions.get(name);
    if (known !== undefined) return known;
    const named = [...new Set(this.namedIn(this.#definitions.get(name) ?? ''))];
    this.#mentions.set(name, named);
    return named;
  }

  #callers(): ReadonlyMap<string, readonly string[]> {
    const callers = new Map<string, string[]>();
    for (const name of this.#definitions.keys()) {
      for (const named of this.#namedBy(name)) {
        const known = callers.get(named);
        if (known === undefined) callers.set(named, [name]);
        else known.push(name);
      }
    }
    return callers;
  }
}

/** A word that may be the name of a kept function. */
const WORD = /[A-Za-z_][\w.:+-]*/g;
