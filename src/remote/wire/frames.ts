/**
 * A frame: a piece of one call, as it goes over a line between two machines.
 *
 * | bytes | what |
 * | --- | --- |
 * | 4 | length of the payload, big endian |
 * | 1 | kind |
 * | 1 | 1: more of the same message follows |
 * | 4 | number of the call, big endian; 0: the line itself |
 * | … | payload |
 */
export interface Frame {
  readonly kind: FrameKind;
  /** The message goes on in the next frame of its call. */
  readonly more: boolean;
  readonly call: number;
  readonly payload: Uint8Array;
}

/** The kinds of frames, by what they do. */
export const FRAME = {
  /** Tells who speaks; the first frame in each direction. */
  hello: 1,
  /** Begins a call; from the client. */
  open: 2,
  /** A JSON message about a call. */
  message: 3,
  /** Bytes of a call: output or input. */
  data: 4,
  /** Grants the other side more bytes of a call. */
  credit: 5,
  /** Asks the far side to end the call. */
  cancel: 6,
  /** Answers the call; nothing follows. */
  end: 7,
  /** A JSON message about the line itself. */
  notice: 8,
} as const;

/** A kind of frames. */
export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

/** Bytes that a frame carries at most; forkline sends a quarter of that. */
const MOST_PAYLOAD = 256 * 1024;

const HEADER = 10;
const KINDS: ReadonlySet<number> = new Set(Object.values(FRAME));

/** The other side has sent something that does not belong to this protocol. */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';
}

/** Returns a frame as bytes. */
export function encodeFrame({ kind, more, call, payload }: Frame): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER + payload.length);
  bytes.writeUInt32BE(payload.length, 0);
  bytes.writeUInt8(kind, 4);
  bytes.writeUInt8(more ? 1 : 0, 5);
  bytes.writeUInt32BE(call, 6);
  bytes.set(payload, HEADER);
  return bytes;
}

/** Puts frames together again from bytes that come in pieces of any size. */
export class FrameParser {
  #pieces: Uint8Array[] = [];
  #size = 0;

  /**
   * Returns the frames that are complete by now, in order. Their payloads may be views of `bytes`.
   *
   * @throws {ProtocolFault} The bytes are no frames; nothing can be read after that.
   */
  push(bytes: Uint8Array): Frame[] {
    this.#pieces.push(bytes);
    this.#size += bytes.length;
    const frames: Frame[] = [];
    while (this.#size >= HEADER) {
      const header = this.#joined(HEADER);
      const length = header.readUInt32BE(0);
      const kind = header.readUInt8(4);
      const more = header.readUInt8(5);
      if (length > MOST_PAYLOAD || !isKind(kind) || more > 1) {
        throw new ProtocolFault(`expected a frame, got ${header.toString('hex', 0, HEADER)}`);
      }
      if (this.#size < HEADER + length) break;
      const whole = this.#joined(HEADER + length);
      this.#take(HEADER + length);
      const payload = whole.subarray(HEADER, HEADER + length);
      frames.push({ kind, more: more === 1, call: header.readUInt32BE(6), payload });
    }
    return frames;
  }

  /** Returns the first bytes in one piece; they stay in the parser. */
  #joined(length: number): Buffer {
    const [first] = this.#pieces;
    if (first !== undefined && first.length >= length) return bufferOf(first);
    const joined = Buffer.concat(this.#pieces, this.#size);
    this.#pieces = [joined];
    return joined;
  }

  #take(length: number): void {
    const [first] = this.#pieces;
    this.#size -= length;
    if (first === undefined || first.length === length) this.#pieces.shift();
    else this.#pieces[0] = first.subarray(length);
  }
}

function isKind(kind: number): kind is FrameKind {
  return KINDS.has(kind);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
