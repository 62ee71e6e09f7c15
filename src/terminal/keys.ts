import { startTimer } from '../support/timing.js';
import type { EndKey } from './ui.js';

/** How long a lone ESC may still turn out to be the beginning of a key's sequence, in milliseconds. */
export const ESCAPE_DELAY_MS = 50;

/** The key that sends ESC to the command, since the Esc key ends it: Ctrl-^. */
const SEND_ESCAPE = '\x1e';
const ESCAPE = 0x1b;
/** Ctrl-]: pressed twice it ends the command, where Esc is sent to the command. */
const BRACKET = 0x1d;
const TWO_BRACKETS = Buffer.from([BRACKET, BRACKET]);
/** The most time between two key presses of a pair, in milliseconds. */
const SECOND_KEY_MS = 1000;

/** Callbacks for keys. */
interface KeyHandler {
  /** Sends bytes to the command. */
  forward(bytes: Uint8Array): void;
  /** Called when the key that ends the command was pressed. */
  end(): void;
  /** Returns whether the command wants cursor keys as `\x1bOA` and not as `\x1b[A`. */
  applicationCursorKeys(): boolean;
}

/**
 * Finds the key that ends the command, Esc or Ctrl-] twice, and tells the Esc key from keys that begin
 * with its byte: cursor and function keys, Alt and a key. Esc is one or more ESC bytes after which
 * nothing comes for {@link ESCAPE_DELAY_MS}.
 */
export class KeyReader {
  readonly #handler: KeyHandler;
  readonly #endKey: EndKey;
  /** The last bytes, as long as they may be Esc or the beginning of a sequence. */
  #held: Uint8Array = new Uint8Array();
  /** Cancels the decision about the held bytes. */
  #stopTimer = (): void => {};

  constructor(handler: KeyHandler, endKey: EndKey) {
    this.#handler = handler;
    this.#endKey = endKey;
  }

  push(data: string | Uint8Array): void {
    this.#stopTimer();
    const bytes = Buffer.concat([
      this.#held,
      typeof data === 'string' ? Buffer.from(data, 'utf8') : data,
    ]);
    const rest = this.#endKey === 'Esc' ? bytes : this.#takeBrackets(bytes);
    const opensPair = this.#endKey === 'Ctrl-]' && rest.at(-1) === BRACKET;
    const end = rest.length - (opensPair ? 1 : unfinishedLength(rest));
    this.#held = rest.subarray(end);
    this.#forward(rest.subarray(0, end));
    if (this.#held.length > 0) {
      const ms = opensPair ? SECOND_KEY_MS : ESCAPE_DELAY_MS;
      this.#stopTimer = startTimer(ms, () => this.#decide(), 'keepsAlive');
    }
  }

  /** Acts upon each pair; returns the bytes after the last. */
  #takeBrackets(bytes: Buffer): Buffer {
    let rest = bytes;
    for (let at = rest.indexOf(TWO_BRACKETS); at !== -1; at = rest.indexOf(TWO_BRACKETS)) {
      this.#forward(rest.subarray(0, at));
      this.#handler.end();
      rest = rest.subarray(at + TWO_BRACKETS.length);
    }
    return rest;
  }

  /** Stops reading keys. */
  stop(): void {
    this.#stopTimer();
    this.#held = new Uint8Array();
  }

  #decide(): void {
    const held = this.#held;
    this.#held = new Uint8Array();
    const isEnd = this.#endKey === 'Esc' && held.every((byte) => byte === ESCAPE);
    if (isEnd) this.#handler.end();
    else this.#forward(held);
  }

  #forward(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const [from, to] = this.#handler.applicationCursorKeys() ? ['[', 'O'] : ['O', '['];
    // One character for each byte: bytes that are not a key's sequence pass unchanged.
    const text = Buffer.from(bytes)
      .toString('latin1')
      .replace(CURSOR_KEY, (key, introducer, name) =>
        introducer === from ? `\x1b${to}${name}` : key,
      );
    const sent = this.#endKey === 'Esc' ? text.replaceAll(SEND_ESCAPE, '\x1b') : text;
    this.#handler.forward(Buffer.from(sent, 'latin1'));
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys begin with ESC.
const CURSOR_KEY = /\x1b([[O])([A-DHF])/g;

/** Returns the length of the bytes at the end that may be Esc, or an unfinished sequence. */
function unfinishedLength(bytes: Uint8Array): number {
  let end = bytes.length;
  const last = bytes[end - 1];
  const introduced = (last === 0x5b || last === 0x4f) && bytes[end - 2] === ESCAPE;
  if (introduced) end -= 1;
  while (end > 0 && bytes[end - 1] === ESCAPE) end -= 1;
  return bytes.length - end;
}
