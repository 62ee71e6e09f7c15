/** A kind of command: it checks its own answer. */
export interface Kind {
  readonly name: string;
  /** One command in so many is of this kind. */
  readonly every: number;
  /** @param index Counts the commands of all kinds. */
  readonly work: (index: number) => Promise<unknown>;
}

/** Kinds, and how what they share is given up. */
export interface Room {
  readonly kinds: readonly Kind[];
  /** Ends conversations, so that what they keep until then is not taken for what is left. */
  readonly rest?: () => Promise<unknown>;
  readonly dispose: () => Promise<unknown>;
}
