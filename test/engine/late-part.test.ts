import { expect, test } from 'vitest';
import { lateClass, latePart } from '../../src/engine/late-library.js';

test('a part is loaded when it is first needed, and once', () => {
  let loads = 0;
  const load = latePart('nothing', () => ({ number: ++loads }));
  expect(loads).toBe(0);
  expect(load()).toEqual({ number: 1 });
  expect(load()).toBe(load());
});

test('a part that cannot be loaded is tried again', () => {
  let tries = 0;
  const load = latePart('nothing', () => {
    tries += 1;
    if (tries === 1) throw new Error('not now');
    return tries;
  });
  expect(load).toThrow('not now');
  expect(load()).toBe(2);
});

test('a class of a part is that class for new, extends and instanceof, and is loaded by them', () => {
  class Real {
    static readonly kind = 'static';
    constructor(readonly value: number) {}
  }
  let loads = 0;
  const Late = lateClass(() => {
    loads += 1;
    return Real;
  });
  expect(loads).toBe(0);
  const made = new Late(3);
  expect(Object.getPrototypeOf(made)).toBe(Real.prototype);
  expect(made.value).toBe(3);
  expect([made instanceof Late, made instanceof Real, new Real(1) instanceof Late]).toEqual([
    true,
    true,
    true,
  ]);
  expect({} instanceof Late).toBe(false);
  class Own extends Late {
    readonly twice = this.value * 2;
  }
  const own = new Own(4);
  expect(own).toMatchObject({ value: 4, twice: 8 });
  expect([own instanceof Own, own instanceof Real]).toEqual([true, true]);
  expect([Late.name, Late.kind]).toEqual(['Real', 'static']);
});
