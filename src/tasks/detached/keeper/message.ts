import type { TerminalSize } from '../../../options/terminal.js';
import { FieldReader, writeFields } from './fields.js';
import { decodeState, type KeeperState, type KeptMember, readMembers } from './keeper-state.js';

/** The calls of a keeper; native/protocol/src/task.rs defines their meaning. */
export type KeeperCall =
  | { readonly kind: 'who' }
  /** At most {@link LONGEST_WRITE} bytes. */
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  | { readonly kind: 'closeInput' }
  | { readonly kind: 'signal'; readonly signal: number }
  | { readonly kind: 'end'; readonly graceMs: number }
  | { readonly kind: 'look' }
  | { readonly kind: 'resize'; readonly size: TerminalSize; readonly redraw: boolean }
  | { readonly kind: 'follow'; readonly since: number; readonly live: boolean };

/** A terminal as it is now. */
interface KeptTerminal extends TerminalSize {
  /** Whether typed characters are shown. */
  readonly echoes: boolean;
  /** Whether input is read line by line. */
  readonly canonical: boolean;
  /** Whether the asking connection's window is the oldest of all windows. */
  readonly isFirst: boolean;
}

/** Messages that follow a call of `follow`, with its number, until `done`; when it is live also after it. */
export type FollowedMessage =
  /** `modes`: after a gap before `from`, sequences that bring a terminal to the modes at `from`. */
  | {
      readonly kind: 'output';
      readonly from: number;
      readonly modes: Uint8Array;
      readonly bytes: Uint8Array;
    }
  /** The size of the terminal from here on. */
  | { readonly kind: 'resized'; readonly size: TerminalSize }
  /** The output so far has been told. */
  | { readonly kind: 'done' };

/** The messages that a keeper sends. */
export type KeeperAnswer =
  | { readonly kind: 'state'; readonly state: KeeperState }
  /** `total`: the number of all members. */
  | { readonly kind: 'members'; readonly total: number; readonly members: readonly KeptMember[] }
  /** 0: the data was written. */
  | { readonly kind: 'written'; readonly errno: number }
  | { readonly kind: 'signalled'; readonly sent: boolean }
  | { readonly kind: 'over'; readonly cleared: boolean }
  | { readonly kind: 'terminal'; readonly terminal: KeptTerminal }
  | FollowedMessage;

export const LONGEST_WRITE = 64 * 1024;

/** Encodes a call as a message with the number that its answer will have. */
export function encodeCall(number: number, call: KeeperCall): Buffer {
  const message = writeFields(number, ...fieldsOf(call));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(message.length);
  return Buffer.concat([length, message]);
}

function fieldsOf(call: KeeperCall): (number | Uint8Array)[] {
  switch (call.kind) {
    case 'who':
      return [1];
    case 'write':
      return [2, call.bytes];
    case 'closeInput':
      return [3];
    case 'signal':
      return [4, call.signal];
    case 'end':
      return [5, Math.ceil(call.graceMs)];
    case 'look':
      return [6];
    case 'resize':
      return [7, call.size.columns, call.size.rows, Number(call.redraw)];
    case 'follow':
      return [8, call.since, Number(call.live)];
  }
}

/** @throws {RangeError} The message is no answer. */
export function decodeAnswer(message: Buffer): { number: number; answer: KeeperAnswer } {
  const fields = new FieldReader(message);
  const number = fields.number();
  return { number, answer: answerIn(fields) };
}

function answerIn(fields: FieldReader): KeeperAnswer {
  const kind = fields.number();
  switch (kind) {
    case 1:
      return { kind: 'state', state: decodeState(fields.bytes()) };
    case 2:
      return { kind: 'members', total: fields.number(), members: readMembers(fields) };
    case 3:
      return { kind: 'written', errno: fields.number() };
    case 4:
      return { kind: 'done' };
    case 5:
      return { kind: 'signalled', sent: fields.number() !== 0 };
    case 6:
      return { kind: 'over', cleared: fields.number() !== 0 };
    case 7:
      return { kind: 'terminal', terminal: terminalIn(fields) };
    case 8: {
      const from = fields.number();
      return { kind: 'output', from, modes: fields.bytes(), bytes: fields.bytes() };
    }
    case 9:
      return { kind: 'resized', size: sizeIn(fields) };
    default:
      throw new RangeError(`expected an answer, got one of kind ${kind}`);
  }
}

function sizeIn(fields: FieldReader): TerminalSize {
  return { columns: fields.number(), rows: fields.number() };
}

function terminalIn(fields: FieldReader): KeptTerminal {
  const size = sizeIn(fields);
  const is = (): boolean => fields.number() !== 0;
  return { ...size, echoes: is(), canonical: is(), isFirst: is() };
}

/** More than a keeper ever sends at once, in bytes. */
const LONGEST_ANSWER = 1024 * 1024;

/** Splits a stream into messages. */
export class MessageStream {
  #rest: Buffer = Buffer.alloc(0);

  /**
   * Returns the messages that end in this piece.
   *
   * @throws {RangeError} A message is too long to be a keeper's.
   */
  push(piece: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let rest = Buffer.concat([this.#rest, piece]);
    while (rest.length >= 4) {
      const end = 4 + rest.readUInt32LE();
      if (end > LONGEST_ANSWER) throw new RangeError(`${end} bytes: no message`);
      if (rest.length < end) break;
      messages.push(rest.subarray(4, end));
      rest = rest.subarray(end);
    }
    this.#rest = rest;
    return messages;
  }
}
