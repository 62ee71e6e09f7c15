import { InputError, messageOf, showValue } from '../../support/errors.js';
import type { Call } from './call.js';
import { FRAME, type FrameKind, ProtocolFault } from './frames.js';
import { SHAPES } from './message-shapes.js';
import { MESSAGES, type MessageRow, type Sender, type Subject } from './messages.js';
import type { Open } from './protocol.js';
import {
  describeMismatch,
  type FieldType,
  mismatch,
  mismatchOfFields,
  type ShapeFields,
} from './shapes.js';

/** Returns a function that checks the messages of one side: see {@link checkMessage}. */
export function checkerOf(from: Sender) {
  return (kind: FrameKind, call: Call | undefined, body: unknown): boolean =>
    checkMessage(from, kind, call === undefined ? 'line' : call.subject, body);
}

/** Returns the kind of call that this body begins; `undefined`: none that is known. */
export function subjectOf(body: unknown): Subject | undefined {
  return MESSAGES.find(({ frame, fields }) => frame === 'open' && hasKey('op', fields, body))?.of;
}

/**
 * Checks a message.
 *
 * @returns Whether it has a row; a message without one is to be passed over.
 * @throws {ProtocolFault} The message does not match its row; or it begins or ends a call, and has no
 *   row.
 */
function checkMessage(
  from: Sender,
  kind: FrameKind,
  of: Subject | undefined,
  body: unknown,
): boolean {
  const rows = rowsOf(from, kind, of);
  const first = rows[0];
  if (first === undefined) return false;
  const found = rows.find(({ key, fields }) => key === undefined || hasKey(key, fields, body));
  if (found === undefined) {
    const what = first.frame === 'open' ? 'a call' : `${first.frame} of ${first.of}`;
    const fault = mismatchOfFields(SHAPES, {}, body);
    if (fault !== undefined) throw new ProtocolFault(`${what}: ${describeMismatch(fault)}`);
    if (first.frame === 'message' || first.frame === 'notice') return false;
    const keys = [...new Set(rows.map(({ key, fields }) => (key === 'op' ? fields.op : key)))];
    throw new ProtocolFault(`${what}: expected ${keys.join(', ')}, got ${showValue(body)}`);
  }
  const fault = mismatchOfFields(SHAPES, found.fields, body);
  if (fault === undefined) return true;
  const about = found.of === 'line' ? '' : ` (${found.frame} of ${found.of})`;
  throw new ProtocolFault(`${found.name}${about}: ${describeMismatch(fault)}`);
}

/**
 * Checks how a client begins a call.
 *
 * @throws {InputError} The body matches no row; nothing was started.
 */
export function checkOpen(body: unknown): Open {
  try {
    checkMessage('client', FRAME.open, undefined, body);
  } catch (error) {
    throw new InputError(messageOf(error));
  }
  return body as Open;
}

const ROWS = new Map<string, readonly MessageRow[]>();

/**
 * Returns the rows of one sender, kind of frames and subject; for frames that begin a call, those of
 * all subjects.
 */
function rowsOf(from: Sender, kind: FrameKind, of: Subject | undefined): readonly MessageRow[] {
  const name = `${from} ${kind} ${of}`;
  const known = ROWS.get(name);
  if (known !== undefined) return known;
  const isMeant = (row: MessageRow): boolean => row.of === of || kind === FRAME.open;
  const rows = MESSAGES.filter(
    (row) => row.from === from && FRAME[row.frame] === kind && isMeant(row),
  );
  ROWS.set(name, rows);
  return rows;
}

/**
 * Returns whether a body has the field of this name; a field that is a fixed word, true or false must
 * have that value.
 */
function hasKey(key: string, fields: ShapeFields, body: unknown): boolean {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, key)) return false;
  const type: FieldType = fields[key] ?? 'any';
  if (!/^('|true$|false$)/.test(type)) return true;
  return mismatch(SHAPES, type, Reflect.get(body, key)) === undefined;
}
