import { startTimer } from '../support/timing.js';

/** How long a lone ESC may still turn out to be the beginning of a key's sequence, in milliseconds. */
export const ESCAPE_DELAY_MS = 50;

/** What sends ESC to the command, since the key of that name ends it: Ctrl-^. */
const SEND_ESCAPE = 0x1e;
const ESCAPE = 0x1b;

/** What becomes of keys. */
interface KeyHandler {
  /** Bytes for the command. */
  forward(bytes: Uint8Array): void;
  /** The Esc key was pressed. */
  escape(): void;
  /** Whether cursor keys are `\x1bOA` and not `\x1b[A` for the command. */
  applicationCursorKeys(): boolean;
}

/**
 * Tells the Esc key from what merely begins with its byte: cursor and function keys, Alt and a key.
 * Esc is one or more ESC bytes after which nothing comes for {@link ESCAPE_DELAY_MS}.
 */
export class KeyReader {
  readonly #handler: KeyHandler;
  /** The end of what has come, as long as it may be Esc or the beginning of a sequence. */
  #held: Uint8Array = new Uint8Array();
  /** Takes the decision about it back. */
  #stopTimer = (): void => {};

  constructor(handler: KeyHandler) {
    this.#handler = handler;
  }

  push(data: string | Uint8Array): void {
    this.#stopTimer();
    const bytes = Buffer.concat([
      this.#held,
      typeof data === 'string' ? Buffer.from(data, 'utf8') : data,
    ]);
    const end = bytes.length - unfinishedLength(bytes);
    this.#held = bytes.subarray(end);
    this.#forward(bytes.subarray(0, end));
    if (this.#held.length > 0) {
      this.#stopTimer = startTimer(ESCAPE_DELAY_MS, () => this.#decide(), 'keepsAlive');
    }
  }

  /** Nothing follows. */
  stop(): void {
    this.#stopTimer();
    this.#held = new Uint8Array();
  }

  #decide(): void {
    const held = this.#held;
    this.#held = new Uint8Array();
    if (held.every((byte) => byte === ESCAPE)) this.#handler.escape();
    else this.#forward(held);
  }

  #forward(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const [from, to] = this.#handler.applicationCursorKeys() ? ['[', 'O'] : ['O', '['];
    // One character a byte: what is not a key's sequence passes as it is.
    const text = Buffer.from(bytes)
      .toString('latin1')
      .replace(CURSOR_KEY, (key, introducer, name) =>
        introducer === from ? `\x1b${to}${name}` : key,
      )
      .replaceAll(String.fromCharCode(SEND_ESCAPE), '\x1b');
    this.#handler.forward(Buffer.from(text, 'latin1'));
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what keys begin with.
const CURSOR_KEY = /\x1b([[O])([A-DHF])/g;

/** The length of what at the end may be Esc, or a sequence of which the rest has yet to come. */
function unfinishedLength(bytes: Uint8Array): number {
  let end = bytes.length;
  const last = bytes[end - 1];
  const introduced = (last === 0x5b || last === 0x4f) && bytes[end - 2] === ESCAPE;
  if (introduced) end -= 1;
  while (end > 0 && bytes[end - 1] === ESCAPE) end -= 1;
  return bytes.length - end;
}
