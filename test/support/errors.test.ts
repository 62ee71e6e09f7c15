import { describe, expect, test } from 'vitest';
import * as allBuilt from '../../dist/index.js';
import * as allSource from '../../src/index.js';
import { describeThrown, errorOf, messageOf } from '../../src/support/errors.js';

// Two copies of the package.
const built = { ...allBuilt };
const source = { ...allSource };

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

describe('I1: an error of another copy of the package', () => {
  const names = ['InputError', 'LaunchError', 'ToolError', 'ToolAbortError'] as const;

  test.each([...names, 'ArtifactError', 'TaskLimitError', 'UnknownTaskError'] as const)(
    'is recognized: %s',
    (name) => {
      expect(built[name]).not.toBe(source[name]);
      const error = Object.create(built[name].prototype);
      expect(error instanceof source[name]).toBe(true);
      expect(new Error('other') instanceof source[name]).toBe(false);
      for (const other of names.filter((each) => each !== name)) {
        expect(error instanceof source[other]).toBe(false);
      }
    },
  );

  test('is none of a subclass', () => {
    class Own extends source.InputError {}
    expect(new built.InputError('x') instanceof Own).toBe(false);
    expect(new source.InputError('x') instanceof Own).toBe(false);
    expect(new Own('x') instanceof Own).toBe(true);
    expect(new Own('x') instanceof built.InputError).toBe(true);
    for (const value of [undefined, null, 1, 'x'] as unknown[])
      expect((value as object) instanceof Own).toBe(false);
  });
});
