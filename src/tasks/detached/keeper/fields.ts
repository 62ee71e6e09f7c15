/** Reads fields one after the other, as native/protocol/src/fields.rs writes them. */
export class FieldReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Reads a number; one beyond JavaScript's safe integers is not exact. */
  number(): number {
    return Number(this.#take(8).readBigInt64LE());
  }

  bytes(): Buffer {
    return this.#take(this.number());
  }

  text(): string {
    return this.bytes().toString();
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** @throws {RangeError} There are fewer bytes. */
  #take(count: number): Buffer {
    const end = this.#at + count;
    if (!(count >= 0 && end <= this.#bytes.length))
      throw new RangeError(`${count} bytes: no field`);
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

/** Writes fields one after the other: numbers, and bytes after their count. */
export function writeFields(...fields: readonly (number | Uint8Array)[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) =>
      typeof field === 'number' ? [word(field)] : [word(field.length), field],
    ),
  );
}

function word(number: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(number));
  return bytes;
}
