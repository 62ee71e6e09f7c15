import { expect, test } from 'vitest';
import { checkCommand } from '../../src/command/options.js';
import { createValidator } from '../../src/contracts/validate.js';
import { InputError } from '../../src/support/errors.js';

const validate = createValidator<{ command: string }>({
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
});

test('what the schema accepts comes back as it is', async () => {
  const input = { command: 'ls', timeout: 1.5, env: { A: 'b' } };
  expect(await validate(input)).toBe(input);
});

test.each([
  [{ command: 'ls', timeout: '5' }, 'timeout: expected a number, got "5"'],
  [{ command: 'ls', timeout: Number.NaN }, 'timeout: expected a number, got NaN'],
  [{ command: 'ls', timeout: null }, 'timeout: expected a number, got null'],
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
  const error = await validate(input).then(
    () => undefined,
    (reason: unknown) => reason,
  );
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
