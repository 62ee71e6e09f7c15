/** What goes over a line of a broker in one message. */
export interface Packet {
  readonly kind: 'data' | 'beat' | 'bye';
  /** Of the stream of its sender; only data is counted. */
  readonly seq: number;
  /** All before this has come from the other side. */
  readonly ack: number;
  /** Something before it is missing: it is to be sent again. */
  readonly wantsAgain: boolean;
  readonly payload: Uint8Array;
}

/** Kind, flags, number, acknowledged: what stands before a payload. */
export const PACKET_HEADER = 10;

const KINDS = ['data', 'beat', 'bye'] as const;

/** A packet as bytes. */
export function encodePacket({ kind, seq, ack, wantsAgain, payload }: Packet): Uint8Array {
  const bytes = Buffer.allocUnsafe(PACKET_HEADER + payload.length);
  bytes.writeUInt8(KINDS.indexOf(kind), 0);
  bytes.writeUInt8(wantsAgain ? 1 : 0, 1);
  bytes.writeUInt32BE(seq, 2);
  bytes.writeUInt32BE(ack, 6);
  bytes.set(payload, PACKET_HEADER);
  return bytes;
}

/** Undefined: these are no packet. */
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
