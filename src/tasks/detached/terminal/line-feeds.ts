const [LF, CR] = [0x0a, 0x0d];
/** Moves the cursor down and not to the first column, and scrolls at the last row: IND. */
const DOWN = Buffer.from('\x1bD');

/**
 * Writes line feeds so that a user's terminal in Node's raw mode shows them as they are meant. There the
 * kernel still puts a carriage return before each (ONLCR). A line feed that comes alone is from a program that
 * has switched that off on its own terminal, to move straight down.
 */
export class LineFeeds {
  #last = 0;

  /** Returns the next piece of the output, with other line feeds if it has any that come alone. */
  convert(bytes: Uint8Array): Uint8Array {
    const parts: Uint8Array[] = [];
    let from = 0;
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
      if ((at === 0 ? this.#last : bytes[at - 1]) === CR) continue;
      parts.push(bytes.subarray(from, at), DOWN);
      from = at + 1;
    }
    this.#last = bytes.at(-1) ?? this.#last;
    return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)]);
  }
}
