import { expect, test } from 'vitest';
import { createUrlRegistry } from '../../src/urls/registry.js';
import { unknownId } from '../../src/urls/resolver.js';

const resolver = { resolve: (url: string) => ({ path: `/${url}` }) };

test('a scheme has the resolver that was registered for it', () => {
  const registry = createUrlRegistry({ local: resolver });
  const other = { ...resolver };
  const remove = registry.register('x-y+z.1', other);
  expect(registry.schemes()).toEqual(['local', 'x-y+z.1']);
  expect(registry.resolverOf('x-y+z.1')).toBe(other);
  remove();
  remove();
  expect(registry.resolverOf('x-y+z.1')).toBeUndefined();
  expect(registry.resolverOf('toString')).toBeUndefined();
});

test('a scheme has one resolver', () => {
  const registry = createUrlRegistry({ local: resolver });
  expect(() => registry.register('local', resolver)).toThrow(
    'scheme: expected one without a resolver, local has one already',
  );
});

test.each(['', 'Local', 'a:', '1a', 'a b', 'a://'])('%j is no scheme', (scheme) => {
  expect(() => createUrlRegistry({ [scheme]: resolver })).toThrow(
    `scheme: expected lower-case letters, digits, +, ., -, got ${JSON.stringify(scheme)}`,
  );
});

test('the error for an unknown id lists the known ones', () => {
  expect(unknownId('skill', 'x', ['a', 'b']).message).toBe('Unknown skill: x. Available: a, b.');
  expect(unknownId('skill', 'x', []).message).toBe('Unknown skill: x. There are none.');
  const many = Array.from({ length: 23 }, (_, index) => String(index));
  expect(unknownId('artifact', '99', many).message).toMatch(/, 18, 19, and 3 more\.$/);
});
