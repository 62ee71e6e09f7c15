import { expect, test } from 'vitest';
import { describeThrown, errorOf, messageOf } from '../../src/support/errors.js';

const hostile = {
  toString() {
    throw new Error('never');
  },
};

test.each([
  [new TypeError('gone'), 'gone', 'TypeError: gone'],
  ['a text', 'a text', 'a text'],
  [undefined, 'undefined', 'undefined'],
  [Symbol('s'), 'Symbol(s)', 'Symbol(s)'],
  [Object.create(null), 'an object', 'an object'],
  [hostile, 'an object', 'an object'],
  [Object.assign(new Error(), { message: hostile }), 'an object', 'an object'],
])('C6: any thrown value can be reported (%#)', (thrown, message, described) => {
  expect(messageOf(thrown)).toBe(message);
  expect(describeThrown(thrown)).toBe(described);
  expect(errorOf(thrown)).toBeInstanceOf(Error);
});
