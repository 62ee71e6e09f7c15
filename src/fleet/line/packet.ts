/** One message of a line over a broker. */
export interface Packet {
  readonly kind: 'data' | 'beat' | 'bye';
  /** The number of the packet in its sender's stream; only data is counted. */
  readonly seq: number;
  /** All packets before this number have come from the other side. */
  readonly ack: number;
  /** Whether a packet is missing, and is to be sent again. */
  readonly wantsAgain: boolean;
  readonly payload: Uint8Array;
}

/** Bytes before the payload: kind, flags, number, acknowledged. */
export const PACKET_HEADER = 10;

const KINDS = ['data', 'beat', 'bye'] as const;

/** Returns a packet as bytes. */
export function encodePacket({ kind, seq, ack, wantsAgain, payload }: Packet): Uint8Array {
  const bytes = Buffer.allocUnsafe(PACKET_HEADER + payload.length);
  bytes.writeUInt8(KINDS.indexOf(kind), 0);
  bytes.writeUInt8(wantsAgain ? 1 : 0, 1);
  bytes.writeUInt32BE(seq, 2);
  bytes.writeUInt32BE(ack, 6);
  bytes.set(payload, PACKET_HEADER);
  return bytes;
}

/** Reads a packet; `undefined`: the bytes are none. */
export function decodePacket(bytes: Uint8Array): Packet | undefined {
  if (bytes.length < PACKET_HEADER) return undefined;
  const packet = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const kind = KINDS[packet.readUInt8(0)];
  if (kind === undefined) return undefined;
  return {
    kind,
    seq: packet.readUInt32BE(2),
    ack: packet.readUInt32BE(6),
    wantsAgain: packet.readUInt8(1) === 1,
    payload: bytes.subarray(PACKET_HEADER),
  };
}

/** The packet that gives up a line. */
export const LEAVE = encodePacket({
  kind: 'bye',
  seq: 0,
  ack: 0,
  wantsAgain: false,
  payload: new Uint8Array(),
});
