import { TextDecoder } from 'node:util';
import { InputError, showValue } from '../support/errors.js';

/**
 * Returns the encoding of a label of `TextDecoder`; undefined: UTF-8, which the engine decodes.
 *
 * @param otherWords Words that the caller also allows, for the message.
 * @throws {InputError} There is no such encoding.
 */
export function encodingOf(label: unknown, otherWords = ''): string | undefined {
  try {
    if (typeof label === 'string') {
      const { encoding } = new TextDecoder(label);
      return encoding === 'utf-8' ? undefined : encoding;
    }
  } catch {
    // The error below has a better message.
  }
  const expected = 'the label of an encoding, such as gbk, shift_jis or utf-16le';
  throw new InputError(`encoding: expected ${otherWords}${expected}, got ${showValue(label)}`);
}
