import { expect, test } from 'vitest';
import { InputError, run, spawn } from '../../src/index.js';
import { failureOf } from '../support/results.js';

const starts: readonly ((command: string, options?: object) => Promise<unknown>)[] = [run, spawn];

const path = 'a path: a string that is not empty and has no NUL';
const above = 'a number of milliseconds above 0';
const size = 'a whole number of bytes from 0 to 268435456';

/** Options of which one is wrong, each with the expected message. */
const wrong: readonly [object, string][] = [
  [{ cwd: '' }, `cwd: expected ${path}, got ""`],
  [{ cwd: 'a\0b' }, `cwd: expected ${path}, got "a\\u0000b"`],
  [{ cwd: 7 }, `cwd: expected ${path}, got 7`],
  [{ timeoutMs: 0 }, `timeoutMs: expected ${above}, got 0`],
  [{ timeoutMs: -1 }, `timeoutMs: expected ${above}, got -1`],
  [{ timeoutMs: Number.NaN }, `timeoutMs: expected ${above}, got NaN`],
  [{ timeoutMs: '5' }, `timeoutMs: expected ${above}, got "5"`],
  [{ graceMs: -1 }, 'graceMs: expected a number of milliseconds of 0 or more, got -1'],
  [{ graceMs: '5' }, 'graceMs: expected a number of milliseconds of 0 or more, got "5"'],
  [{ headBytes: -1 }, `headBytes: expected ${size}, got -1`],
  [{ headBytes: 1.5 }, `headBytes: expected ${size}, got 1.5`],
  [{ tailBytes: 268_435_457 }, `tailBytes: expected ${size}, got 268435457`],
  [{ tailBytes: '1' }, `tailBytes: expected ${size}, got "1"`],
  [{ spill: '' }, `spill: expected ${path}, got ""`],
  [{ spill: 5 }, `spill: expected ${path}, got 5`],
  [{ spill: true }, `spill: expected ${path}, got true`],
  [{ spill: {} }, `spill.path: expected ${path}, got nothing`],
  [
    { spill: { path: 'x', afterBytes: 0.5 } },
    'spill.afterBytes: expected a whole number of bytes of 0 or more, got 0.5',
  ],
  [
    { spill: { path: 'x', maxBytes: -1 } },
    'spill.maxBytes: expected a whole number of bytes of 0 or more, got -1',
  ],
  [{ input: 5 }, 'input: expected a string or a Uint8Array, got 5'],
  [{ input: ['x'] }, 'input: expected a string or a Uint8Array, got ["x"]'],
  [{ shell: '/bin/sh' }, 'shell: expected an array of at least one absolute path, got "/bin/sh"'],
  [{ shell: [] }, 'shell: expected an array of at least one absolute path, got []'],
  [{ shell: ['sh'] }, 'shell: expected absolute paths, got "sh"'],
  [{ shell: ['/bin/sh', ''] }, `shell: expected ${path}, got ""`],
  [{ streams: 'both' }, `streams: expected 'merged' or 'separate', got "both"`],
  [{ signal: {} }, 'signal: expected an AbortSignal, got {}'],
  [{ env: { '': 'x' } }, 'env: expected a name without "=" and NUL, got ""'],
  [{ env: { 'A=B': 'x' } }, 'env: expected a name without "=" and NUL, got "A=B"'],
  [{ env: { A: 5 } }, 'env.A: expected a string, got a value of type number'],
  [{ env: { A: 'b\0c' } }, 'env.A: expected a string without NUL, got one at index 1'],
];

test.each(wrong)('%j is refused by run() and spawn()', async (options, message) => {
  for (const start of starts) {
    const error = await failureOf(start('true', options));
    expect(error).toBeInstanceOf(InputError);
    expect(error).toHaveProperty('message', message);
  }
});

test.each([
  [{ inheritEnv: 'some' }, 'inheritEnv: expected "scrubbed", "all" or "none", got "some"'],
  [{ inheritEnv: '' }, 'inheritEnv: expected "scrubbed", "all" or "none", got ""'],
  [{ owner: {} }, 'owner: expected an owner made by createOwner(), got {}'],
])('%j is refused too', async (options, message) => {
  for (const start of starts) {
    expect(await failureOf(start('true', options))).toMatchObject({
      name: 'InputError',
      message,
    });
  }
});

test.each([
  [{ stdin: 'inherit' }, `stdin: expected 'null' or 'pipe', got "inherit"`],
  [
    { encoding: 'utf-88' },
    `encoding: expected 'text', 'bytes' or the label of an encoding, such as gbk, shift_jis or utf-16le, got "utf-88"`,
  ],
  [{ overflow: 'block' }, `overflow: expected 'drop' or 'pause', got "block"`],
  [{ stdin: 'pipe', input: 'x' }, `input: expected nothing beside stdin: 'pipe', got "x"`],
])('%j is refused by spawn()', async (options, message) => {
  expect(await failureOf(spawn('true', options as object))).toMatchObject({
    name: 'InputError',
    message,
  });
});

test.each([
  [5, 'command: expected a string, or an array of a program and its arguments, got 5'],
  [
    undefined,
    'command: expected a string, or an array of a program and its arguments, got nothing',
  ],
  ['', 'command: expected a shell command, got ""'],
  [' \n\t', 'command: expected a shell command, got " \\n\\t"'],
  ['a\0b', 'command: expected text without NUL, got one at index 1'],
])('a command of %j is refused', async (command, message) => {
  for (const start of starts) {
    expect(await failureOf(start(command as string))).toMatchObject({
      name: 'InputError',
      message,
    });
  }
});

test('a listener that is no function is refused', async () => {
  const options = { onOutput: 'log' } as object;
  expect(await failureOf(run('true', options))).toMatchObject({
    name: 'InputError',
    message: 'onOutput: expected a function, got "log"',
  });
});

test('an error does not repeat a long value in full', async () => {
  const error = await failureOf(run('true', { streams: 'x'.repeat(1000) } as object));
  expect((error as Error).message.length).toBeLessThan(200);
});

test('kill() refuses a grace that is no time, and the command goes on', async () => {
  const live = await spawn('sleep 300');
  const error = await failureOf(live.kill({ graceMs: Number.NaN }));
  expect(error).toMatchObject({
    name: 'InputError',
    message: 'graceMs: expected a number of milliseconds of 0 or more, got NaN',
  });
  expect((await live.kill()).outcome).toMatchObject({ forced: false });
});
