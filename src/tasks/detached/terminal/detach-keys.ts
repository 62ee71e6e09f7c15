import { InputError, showValue } from '../../../support/errors.js';

/** Ctrl-\. */
export const DEFAULT_KEYS = 'ctrl-\\';

const CONTROL = /^ctrl-([a-z@[\\\]^_])$/i;
const MOST_KEYS = 8;

/**
 * Returns the bytes of the keys by which a user leaves a terminal.
 *
 * @param keys Separated by commas: characters, or `ctrl-` and one of `a` to `z`, `@`, `[`, `\`, `]`, `^`, `_`.
 * @throws {InputError} `keys` is something else.
 */
export function parseDetachKeys(keys: unknown): Buffer {
  const fail = (): never => {
    const expected = "keys such as 'ctrl-\\' or 'ctrl-p,ctrl-q'";
    throw new InputError(`detachKeys: expected ${expected}, got ${showValue(keys)}`);
  };
  if (typeof keys !== 'string') return fail();
  const parts = keys.split(',');
  if (parts.length > MOST_KEYS) fail();
  const bytes = parts.map((key) => {
    const [, control] = CONTROL.exec(key) ?? [];
    if (control !== undefined) return control.toUpperCase().charCodeAt(0) & 0x1f;
    return /^[\x21-\x7e]$/.test(key) ? key.charCodeAt(0) : fail();
  });
  return Buffer.from(bytes);
}

/** Typed keys, without those that leave. */
interface TypedKeys {
  /** Keys for the command. */
  readonly forward: Buffer;
  /** Whether the user has pressed the keys that leave. */
  readonly isLeaving: boolean;
}

/** Finds the keys that leave among typed ones. Keys with which they begin wait until the next key. */
export class DetachKeys {
  readonly #keys: Buffer;
  #held: Buffer = Buffer.alloc(0);

  constructor(keys: Buffer) {
    this.#keys = keys;
  }

  push(data: Uint8Array): TypedKeys {
    const typed = Buffer.concat([this.#held, this.#withPlainKeys(data)]);
    const at = typed.indexOf(this.#keys);
    if (at !== -1) {
      this.#held = Buffer.alloc(0);
      return { forward: typed.subarray(0, at), isLeaving: true };
    }
    let held = Math.min(typed.length, this.#keys.length - 1);
    while (held > 0 && !typed.subarray(-held).equals(this.#keys.subarray(0, held))) held -= 1;
    const end = typed.length - held;
    this.#held = typed.subarray(end);
    return { forward: typed.subarray(0, end), isLeaving: false };
  }

  /**
   * Replaces the long forms of the keys that leave by their bytes: a program may have asked the terminal to
   * send Ctrl and a key as `CSI 92;5u` or as `CSI 27;5;92~`.
   */
  #withPlainKeys(data: Uint8Array): Buffer {
    const text = Buffer.from(data).toString('latin1');
    if (!text.includes('\x1b[')) return Buffer.from(data);
    const plain = text.replace(LONG_FORM, (form, one, other) => {
      const byte = Number(one ?? other) & 0x1f;
      return this.#keys.includes(byte) ? String.fromCharCode(byte) : form;
    });
    return Buffer.from(plain, 'latin1');
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are sent as such.
const LONG_FORM = /\x1b\[(?:(\d{2,3});5u|27;5;(\d{2,3})~)/g;
