import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { encodeFrame, FRAME, type FrameKind, FrameParser } from '../../src/remote/wire/frames.js';
import { SHAPES } from '../../src/remote/wire/message-shapes.js';
import type { MessageRow } from '../../src/remote/wire/messages.js';
import { PREAMBLE } from '../../src/remote/wire/protocol.js';
import { mismatch } from '../../src/remote/wire/shapes.js';
import { memoryLine, STATIC_FAR } from './far.js';

/** Returns a value of a type of the table. */
function sampleOf(type: string): unknown {
  const [choice = ''] = type.split(' | ');
  if (choice.endsWith('[]')) return [sampleOf(choice.slice(0, -2))];
  if (choice.startsWith("'")) return choice.slice(1, -1);
  const shape = SHAPES[choice];
  if (typeof shape === 'string') return sampleOf(shape);
  if (shape !== undefined) return sampleOfFields(shape);
  const samples: Readonly<Record<string, unknown>> = {
    ...{ text: 'true', flag: true, true: true, false: false, object: {}, null: null },
    ...{ number: 1, whole: 1, amount: 1, count: 1, any: 1, '1..65535': 80, '0..65535': 80 },
  };
  return samples[choice];
}

function sampleOfFields(fields: MessageRow['fields']): Record<string, unknown> {
  // A cause may have a cause, without end.
  const given = Object.entries(fields).filter(([name]) => name !== 'cause?');
  return Object.fromEntries(given.map(([name, type]) => [name.replace('?', ''), sampleOf(type)]));
}

/** Returns a message that is what its row says. */
export const rightMessage = (row: MessageRow): Record<string, unknown> =>
  sampleOfFields(row.fields);

const ODD: readonly unknown[] = [null, true, 'odd', -1.5, 70_000, [1], { odd: 1 }];

/** Returns messages with one field that is not what the row says, or is missing; the key stays. */
export function wrongMessages(row: MessageRow): readonly unknown[] {
  const right = rightMessage(row);
  return Object.entries(row.fields).flatMap(([key, type]) => {
    const name = key.replace('?', '');
    if (name === row.key && /^('|true|false)/.test(type)) return [];
    const wrong = ODD.filter((value) => mismatch(SHAPES, type, value) !== undefined);
    const odd = wrong.map((value) => ({ ...right, [name]: value }));
    const mayMiss = name !== key || type.includes('null') || name === row.key;
    const { [name]: _, ...without } = right;
    return mayMiss ? odd : [...odd, without];
  });
}

/** A frame of the far side that is JSON. */
interface HeardFrame {
  readonly kind: FrameKind;
  readonly call: number;
  readonly body: unknown;
}

/** A client that says what it wants to a far side, and keeps what it hears. */
export class RawClient {
  readonly heard: HeardFrame[] = [];
  /** Settles when the far side has closed the line. */
  readonly closed: Promise<void>;
  isClosed = false;
  readonly #toFar: Writable;

  constructor(toFar: Writable, fromFar: Readable) {
    this.#toFar = toFar;
    toFar.on('error', () => {});
    const parser = new FrameParser();
    let isGreeted = false;
    let early = Buffer.alloc(0);
    fromFar.on('data', (bytes: Buffer) => {
      let rest: Buffer = bytes;
      if (!isGreeted) {
        early = Buffer.concat([early, bytes]);
        if (early.length < PREAMBLE.length) return;
        isGreeted = true;
        rest = early.subarray(PREAMBLE.length);
      }
      for (const { kind, call, payload } of parser.push(rest)) {
        if (kind === FRAME.data || kind === FRAME.credit) continue;
        this.heard.push({ kind, call, body: JSON.parse(String(payload)) });
      }
    });
    this.closed = new Promise((resolve) => {
      const close = (): void => {
        this.isClosed = true;
        resolve();
      };
      fromFar.on('end', close);
      fromFar.on('close', close);
    });
  }

  say(kind: FrameKind, call: number, body: unknown): void {
    const payload = Buffer.from(JSON.stringify(body));
    this.#toFar.write(encodeFrame({ kind, more: false, call, payload }));
  }

  /** Returns how a call was answered; `undefined`: it was not yet. */
  endOf(call: number): unknown {
    return this.heard.find((one) => one.kind === FRAME.end && one.call === call)?.body;
  }

  /** Closes the line; settles when the far side has. */
  async leave(): Promise<void> {
    this.#toFar.end();
    await this.closed;
  }
}

/** A client of a far side with Node, in this process. */
export function nodeClient(): RawClient {
  const { toFar, toNear, service } = memoryLine();
  // As the end of its process would.
  void service.closed.then(() => toNear.end());
  return new RawClient(toFar, toNear);
}

/** A client of the far side without Node. */
export function staticClient(): RawClient {
  const child = spawn(STATIC_FAR, ['serve', '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
  return new RawClient(child.stdin, child.stdout);
}
