/** The first data of a client, as far as it has come. */
type FirstData =
  /** The data so far may become a beginning of TLS. */
  | { readonly kind: 'more' }
  /** The data is not TLS. */
  | { readonly kind: 'other' }
  /** The data begins like TLS, but no server would accept it. */
  | { readonly kind: 'broken' }
  /** A ClientHello for the servers with these names: one, as a rule, or none. */
  | { readonly kind: 'hello'; readonly names: readonly string[] };

const CHANGE_CIPHER_SPEC = 0x14;
const ALERT = 0x15;
const HANDSHAKE = 0x16;
/** Records that some servers skip before a handshake, and their length. */
const PASSED_OVER: Readonly<Record<number, number>> = { [CHANGE_CIPHER_SPEC]: 1, [ALERT]: 2 };
const HEAD = 5;
/** The least major version that some servers refuse; they check no more of a record's version. */
const VERSIONS_BELOW = 0x10;
const LONGEST_RECORD = 0x4000;
/** Real ClientHellos have one or two records. */
const MOST_RECORDS = 64;
/** Real ClientHellos have some two thousand bytes. */
const MOST_BYTES = 0x8000;

const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

const MORE = { kind: 'more' } as const;
const OTHER = { kind: 'other' } as const;
const BROKEN = { kind: 'broken' } as const;

/**
 * Reads a ClientHello of TLS (RFC 8446, 4.1.2 and 5.1), however it is divided into records, for the names
 * of servers in it (RFC 6066, 3). Where servers differ in what they accept, it is read like by the more
 * tolerant one.
 */
export function readFirstData(bytes: Buffer): FirstData {
  const message = firstMessage(bytes);
  if ('kind' in message) return message;
  const names = namesIn(new Fields(message));
  return names === undefined ? BROKEN : { kind: 'hello', names };
}

/** Returns the body of the first message. */
function firstMessage(bytes: Buffer): Buffer | FirstData {
  const { handshake, rest } = unwrapped(bytes);
  if (handshake.length > 0 && handshake[0] !== CLIENT_HELLO) return OTHER;
  const length = handshake.length < 4 ? 0 : handshake.readUIntBE(1, 3);
  if (handshake.length >= 4 + length && length > 0) return handshake.subarray(4, 4 + length);
  const isTooMuch = length > MOST_BYTES || bytes.length > MOST_BYTES;
  return rest.kind === 'more' && isTooMuch ? BROKEN : rest;
}

/** Returns the contents of the records, and the state of the data after the last valid one. */
function unwrapped(bytes: Buffer): { readonly handshake: Buffer; readonly rest: FirstData } {
  const parts: Buffer[] = [];
  const ending = (rest: FirstData) => ({ handshake: Buffer.concat(parts), rest });
  let at = 0;
  for (let count = 0; at < bytes.length; count += 1) {
    const isNone = count === 0 ? OTHER : BROKEN;
    const type = bytes[at] ?? 0;
    if (type !== HANDSHAKE && !(type in PASSED_OVER)) return ending(isNone);
    if (bytes.length - at < HEAD) break;
    const length = bytes.readUInt16BE(at + 3);
    if ((bytes[at + 1] ?? 0) >= VERSIONS_BELOW || length > LONGEST_RECORD) return ending(isNone);
    if (type !== HANDSHAKE && length !== PASSED_OVER[type]) return ending(isNone);
    if (count >= MOST_RECORDS) return ending(BROKEN);
    at += HEAD;
    if (type === HANDSHAKE) parts.push(bytes.subarray(at, at + length));
    at += length;
  }
  return ending(MORE);
}

/** Returns the names in the extensions; undefined when they cannot be read. */
function namesIn(hello: Fields): readonly string[] | undefined {
  // Version, random number, session, ciphers, compression.
  const isBegun = hello.skip(2 + 32) && hello.list(1) && hello.list(2) && hello.list(1);
  if (!isBegun) return undefined;
  const names: string[] = [];
  if (hello.isEmpty) return names;
  const extensions = hello.list(2);
  while (extensions?.isEmpty === false) {
    const type = extensions.number(2);
    const extension = extensions.list(2);
    if (extension === undefined) return undefined;
    if (type !== SERVER_NAME) continue;
    const found = namesOf(extension);
    if (found === undefined) return undefined;
    names.push(...found);
  }
  return extensions && names;
}

function namesOf(extension: Fields): readonly string[] | undefined {
  const names: string[] = [];
  const list = extension.list(2);
  while (list?.isEmpty === false) {
    const type = list.number(1);
    const name = list.list(2);
    if (name === undefined || name.isEmpty) return undefined;
    if (type === HOST_NAME) names.push(name.text);
  }
  return list && names;
}

/** Reads numbers and lists in their order; each is undefined where too little data is left. */
class Fields {
  #rest: Buffer;

  constructor(bytes: Buffer) {
    this.#rest = bytes;
  }

  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  /** The rest, one character a byte. */
  get text(): string {
    return this.#rest.toString('latin1');
  }

  skip(count: number): boolean {
    return this.#take(count) !== undefined;
  }

  number(size: number): number | undefined {
    return this.#take(size)?.readUIntBE(0, size);
  }

  /** Reads a list after its length, which takes `size` bytes. */
  list(size: number): Fields | undefined {
    const length = this.number(size);
    const bytes = length === undefined ? undefined : this.#take(length);
    return bytes && new Fields(bytes);
  }

  #take(count: number): Buffer | undefined {
    if (this.#rest.length < count) return undefined;
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }
}
