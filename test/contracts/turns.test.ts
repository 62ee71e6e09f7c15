import { expect, test } from 'vitest';
import { createValidator } from '../../src/contracts/validate.js';

const validate = createValidator({ type: 'object', properties: {} });

test('P19: of many calls at once some go on now, the rest after other work, all in their order', async () => {
  const went: (number | 'other work')[] = [];
  const calls = Array.from({ length: 40 }, (_, index) => validate({}).then(() => went.push(index)));
  setImmediate(() => went.push('other work'));
  await Promise.all(calls);
  expect(went.indexOf('other work')).toBeLessThan(20);
  const order = went.filter((each) => each !== 'other work');
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

test('a call that waits for its turn has what it was given at first', async () => {
  const inputs = Array.from({ length: 20 }, () => ({ command: 'as given' }));
  const calls = inputs.map((input) => createValidator({ type: 'object' })(input));
  for (const input of inputs) input.command = 'changed';
  for (const read of await Promise.all(calls)) expect(read).toEqual({ command: 'as given' });
});
