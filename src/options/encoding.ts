import { TextDecoder } from 'node:util';
import { InputError, showValue } from '../support/errors.js';

/**
 * The encoding of a label, as `TextDecoder` knows it; undefined: UTF-8, which the engine decodes.
 *
 * @param words What may stand in its place.
 * @throws {InputError} There is none.
 */
export function encodingOf(label: unknown, words = ''): string | undefined {
  try {
    if (typeof label === 'string') {
      const { encoding } = new TextDecoder(label);
      return encoding === 'utf-8' ? undefined : encoding;
    }
  } catch {
    // The message is ours to write.
  }
  const expected = 'the label of an encoding, such as gbk, shift_jis or utf-16le';
  throw new InputError(`encoding: expected ${words}${expected}, got ${showValue(label)}`);
}
