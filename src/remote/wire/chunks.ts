import type { EngineChunk, StreamName } from '../../faces/engine.js';
import { isContinuation } from '../../support/text.js';
import { SENT_PAYLOAD } from './lane.js';
import { STREAMS } from './protocol.js';

/** Bytes before a piece: the number of the stream, and the bytes lost before it. */
const HEADER = 9;
const MOST = SENT_PAYLOAD - HEADER;

/** A stretch of output as it comes over a line. */
export interface SentChunk {
  readonly stream: StreamName;
  readonly droppedBytes: number;
  readonly bytes: Uint8Array;
}

/** Cuts output into pieces that fit into a frame each; text is not cut within a character. */
export function writePieces(stream: StreamName, { data, droppedBytes }: EngineChunk): Buffer[] {
  const isText = typeof data === 'string';
  const bytes = isText ? Buffer.from(data) : data;
  const pieces: Buffer[] = [];
  let from = 0;
  do {
    let to = Math.min(bytes.length, from + MOST);
    while (isText && to < bytes.length && isContinuation(bytes[to])) to -= 1;
    const piece = Buffer.allocUnsafe(HEADER + to - from);
    piece.writeUInt8(STREAMS.indexOf(stream), 0);
    piece.writeDoubleBE(from === 0 ? droppedBytes : 0, 1);
    piece.set(bytes.subarray(from, to), HEADER);
    pieces.push(piece);
    from = to;
  } while (from < bytes.length);
  return pieces;
}

/** Reads a piece. */
export function readPiece(payload: Uint8Array): SentChunk {
  const piece = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
  return {
    stream: STREAMS[piece.readUInt8(0)] ?? 'output',
    droppedBytes: piece.readDoubleBE(1),
    bytes: piece.subarray(HEADER),
  };
}
