import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { checkCommand } from '../../src/command/command-line.js';
import { createValidator } from '../../src/contracts/validate.js';
import { InputError } from '../../src/support/errors.js';
import { fc } from '../support/properties.js';
import { failureOf } from '../support/results.js';

const schema = {
  type: 'object',
  properties: {
    command: { type: 'string' },
    timeout: { type: 'number' },
    lines: { type: 'integer', minimum: 1 },
    mode: { enum: ['fast', 'slow'] },
    env: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['command'],
  additionalProperties: false,
};
const validate = createValidator<{ command: string }>(schema);

test('B18: a field that is null and need not be there is left out', async () => {
  const given = { command: 'ls', timeout: null, env: { A: null, B: 'b' }, nope: null };
  expect(await validate(given)).toEqual({ command: 'ls', env: { B: 'b' } });
});

test('a variable called __proto__ is a variable', async () => {
  const { env } = (await validate(JSON.parse('{"command":"ls","env":{"__proto__":"x"}}'))) as {
    env?: object;
  };
  expect(Object.entries(env ?? {})).toEqual([['__proto__', 'x']]);
});

test('B17: a description beside the command is left out, whatever it is', async () => {
  expect(await validate({ command: 'ls', description: 'lists files' })).toEqual({ command: 'ls' });
  expect(await validate({ command: 'ls', description: 5 })).toEqual({ command: 'ls' });
});

test.each([
  [
    { command: 'echo \ud800x' },
    'command: expected text without lone surrogates, got one at index 5',
  ],
  [
    { command: 'ls', env: { A: '\udc00' } },
    'env.A: expected text without lone surrogates, got one at index 0',
  ],
])('B19: half of a character is refused: %j', async (input, message) => {
  await expect(validate(input)).rejects.toThrow(message);
  expect(await validate({ command: 'echo 😀' })).toEqual({ command: 'echo 😀' });
});

test('H7: any wrong input is refused as a library that compiles schemas would refuse it', async () => {
  const accepts = new Ajv().compile(schema);
  const values = fc.oneof(
    fc.constantFrom('a', 'fast', 1, 0, 1.5, true, Number.NaN, [], ['a'], undefined),
    fc.dictionary(fc.constantFrom('A', 'B'), fc.constantFrom('a', 1, true), {
      noNullPrototype: true,
    }),
  );
  const names = fc.constantFrom('command', 'timeout', 'lines', 'mode', 'env', 'other');
  await fc.assert(
    fc.asyncProperty(fc.dictionary(names, values, { noNullPrototype: true }), async (input) => {
      const given = Object.fromEntries(
        Object.entries(input).filter(([, value]) => value !== undefined),
      );
      let accepted = true;
      try {
        await validate(given);
      } catch {
        accepted = false;
      }
      expect(accepted).toBe(accepts(given));
    }),
  );
});

test('what the schema accepts comes back as it is', async () => {
  const input = { command: 'ls', timeout: 1.5, env: { A: 'b' } };
  expect(await validate(input)).toEqual(input);
});

test.each([
  [{ command: 'ls', timeout: '5' }, 'timeout: expected a number, got "5"'],
  [{ command: 'ls', timeout: Number.NaN }, 'timeout: expected a number, got NaN'],
  [{ command: null }, 'command: expected a string, got null'],
  [{ command: 'ls', timeot: 5 }, 'timeot: not known here, did you mean timeout?'],
  [{ command: 'ls', mode: 'quick' }, 'mode: expected "fast" or "slow", got "quick"'],
  [{ command: 'ls', env: [] }, 'env: expected an object, got []'],
  [{ command: ['ls'] }, 'command: expected a string, got ["ls"]'],
  [{ timeout: 5 }, 'command: expected a string, got nothing'],
  [{ command: 'ls', lines: 1.5 }, 'lines: expected an integer, got 1.5'],
  [{ command: 'ls', lines: 0 }, 'lines: expected at least 1, got 0'],
  [{ command: 'ls', env: { 'A/B~': 5 } }, 'env.A/B~: expected a string, got 5'],
  [
    { command: 'ls', dir: '/' },
    'dir: not known here, expected one of command, timeout, lines, mode, env',
  ],
  ['ls', 'input: expected an object, got "ls"'],
  [undefined, 'input: expected an object, got nothing'],
  [{ command: 'ls', timeout: 'x'.repeat(1000) }, `got "${'x'.repeat(79)}…`],
])('%j is an error of one line', async (input, message) => {
  const error = await failureOf(Promise.resolve().then(() => validate(input)));
  expect(error).toBeInstanceOf(InputError);
  expect(String(error)).toContain(message);
  expect(String(error)).not.toContain('\n');
});

test('an error does not depend on what it reports', async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  await expect(validate({ command: cyclic })).rejects.toThrow('command: expected a string, got an');
  await expect(validate({ command: 5n })).rejects.toThrow('command: expected a string, got 5');
  await expect(validate({ command: () => 1 })).rejects.toThrow('got a function');
});

test.each(['', ' ', '\n\n', '\t\n '])('%j is no command', (command) => {
  expect(() => checkCommand(command)).toThrow('command: expected a shell command, got ');
});

test('a command with NUL is refused, with its place', () => {
  expect(() => checkCommand('ls\0-l')).toThrow(
    'command: expected text without NUL, got one at index 2',
  );
});

test.each(['-e', '# only a comment', ':'])('%j is a command', (command) => {
  expect(() => checkCommand(command)).not.toThrow();
});
