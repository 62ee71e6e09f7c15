import { beforeEach, expect, test, vi } from 'vitest';
import { type EnvironmentPolicy, resolveEnvironment } from '../../src/command/environment.js';
import { fc } from '../support/properties.js';

let inherited = '';
vi.mock('../../src/engine/environ.js', () => ({ inheritedEnvironment: () => inherited }));

beforeEach(() => {
  inherited = 'PATH=/bin\0HOME=/root\0FOO_API_KEY=x\0LANG=C';
});

const entries = (policy: EnvironmentPolicy) => {
  const block = resolveEnvironment(policy);
  return block === '' ? [] : block.split('\0');
};

test('secrets are not inherited unless asked for', () => {
  expect(entries({ inherit: 'scrubbed' })).toEqual(['PATH=/bin', 'HOME=/root', 'LANG=C']);
  expect(entries({ inherit: 'all' })).toContain('FOO_API_KEY=x');
  expect(entries({ inherit: 'none' })).toEqual([]);
});

test('D4: a URL with a password in it is not inherited, whatever its name', () => {
  inherited = 'PATH=/bin\0UPSTREAM=https://u:p@example.com\0PLAIN=https://example.com';
  expect(entries({ inherit: 'scrubbed' })).toEqual(['PATH=/bin', 'PLAIN=https://example.com']);
  expect(entries({ inherit: 'scrubbed', scrub: [] })).toHaveLength(2);
  expect(entries({ inherit: 'all' })).toHaveLength(3);
});

test('the list of secrets can be replaced', () => {
  expect(entries({ inherit: 'scrubbed', scrub: ['LANG', 'H*'] })).toEqual([
    'PATH=/bin',
    'FOO_API_KEY=x',
  ]);
});

test.each(['scrubbed', 'all'] as const)(
  'variables that control a shell are not inherited (%s)',
  (inherit) => {
    inherited = [
      'BASH_ENV=/x',
      'ENV=/x',
      'PS1=$',
      'PS4=$(date)',
      'PROMPT_COMMAND=x',
      'SHLVL=3',
      'PWD=/x',
      'OLDPWD=/x',
      'SHELLOPTS=errexit',
      'BASHOPTS=extglob',
      'CDPATH=/x',
      'POSIXLY_CORRECT=',
      'BASH_FUNC_ls%%=() {  echo hijacked\n}',
      '_=/usr/bin/node',
      'FORKLINE_MARK=1',
      'PSQL_PAGER=x',
    ].join('\0');
    expect(entries({ inherit })).toEqual(['PSQL_PAGER=x']);
  },
);

test('defaults replace inherited variables, and overrides replace both', () => {
  const policy = {
    inherit: 'scrubbed',
    defaults: { LANG: 'de', TERM: 'dumb' },
    overrides: { TERM: 'xterm', HOME: '/h', NEW: '' },
  } as const;
  expect(entries(policy)).toEqual(['PATH=/bin', 'LANG=de', 'TERM=xterm', 'HOME=/h', 'NEW=']);
});

test('undefined removes a variable', () => {
  const overrides = { PATH: undefined, LANG: undefined, NEVER: undefined };
  expect(entries({ inherit: 'scrubbed', overrides })).toEqual(['HOME=/root']);
});

test('the working directory becomes PWD, unless PWD is given', () => {
  expect(entries({ inherit: 'none', cwd: '/a' })).toEqual(['PWD=/a']);
  expect(entries({ inherit: 'none', cwd: '/a', overrides: { PWD: '/b' } })).toEqual(['PWD=/b']);
  expect(entries({ inherit: 'none', cwd: '/a', overrides: { PWD: undefined } })).toEqual([]);
});

test('inherited bytes that are not UTF-8 stay unchanged', () => {
  inherited = 'BAD=\xff\xfe\0GOOD=\xc3\xa9';
  expect(entries({ inherit: 'scrubbed', overrides: { X: 'é' } })).toEqual([
    'BAD=\xff\xfe',
    'GOOD=\xc3\xa9',
    'X=\xc3\xa9',
  ]);
});

test('an entry that is no variable is dropped, and of two with the same name the first stays', () => {
  inherited = 'A=1\0junk\0=x\0A=2\0B=a=b';
  expect(entries({ inherit: 'scrubbed' })).toEqual(['A=1', 'B=a=b']);
});

test('a change of the host environment takes effect', () => {
  const before = entries({ inherit: 'scrubbed' });
  inherited += '\0NEW=1';
  expect(entries({ inherit: 'scrubbed' })).toEqual([...before, 'NEW=1']);
});

test('the variables that the engine sets cannot be set', () => {
  expect(entries({ inherit: 'none', overrides: { _: 'x', FORKLINE_MARK: 'x' } })).toEqual([]);
});

test('names such as __proto__ are names like any other', () => {
  inherited = '__proto__=1\0constructor=2';
  const overrides = JSON.parse('{"__proto__": "3", "toString": "4"}') as Record<string, string>;
  expect(entries({ inherit: 'scrubbed', overrides })).toEqual([
    'constructor=2',
    '__proto__=3',
    'toString=4',
  ]);
});

test.each([
  [{ '': 'x' }, 'env: expected a name without "=" and NUL, got ""'],
  [{ 'A=B': 'x' }, 'env: expected a name without "=" and NUL, got "A=B"'],
  [{ 'A\0B': 'x' }, 'env: expected a name without "=" and NUL, got "A\\u0000B"'],
  [{ A: 'x\0y' }, 'env.A: expected a string without NUL, got one at index 1'],
  [{ A: 5 as unknown as string }, 'env.A: expected a string, got a value of type number'],
  [{ A: null as unknown as string }, 'env.A: expected a string, got a value of type null'],
])('%j is an error that names it', (overrides, message) => {
  expect(() => resolveEnvironment({ inherit: 'none', overrides })).toThrow(message);
});

test.each([
  [{ inherit: 'everything' }, 'inheritEnv: expected "scrubbed", "all" or "none", got "everything"'],
  [{ inherit: 'none', overrides: 'A=1' }, 'env: expected an object, got "A=1"'],
  [{ inherit: 'none', overrides: null }, 'env: expected an object, got null'],
])('%j is no policy', (policy, message) => {
  expect(() => resolveEnvironment(policy as unknown as EnvironmentPolicy)).toThrow(message);
});

test('in any combination of layers, each name appears once with its last value', () => {
  const name = fc.constantFrom('A', 'B', 'C', 'D', 'É');
  const value = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''));
  const record = fc.dictionary(name, value);
  const overrides = fc.dictionary(name, fc.option(value, { nil: undefined }));
  const encode = (text: string) => Buffer.from(text).toString('latin1');
  fc.assert(
    fc.property(record, record, overrides, (host, defaults, over) => {
      const toEntry = ([key, text]: [string, string]) => encode(`${key}=${text}`);
      inherited = Object.entries(host).map(toEntry).join('\0');
      const expected: Record<string, string | undefined> = { ...host, ...defaults, ...over };
      const kept = Object.entries(expected).filter((pair): pair is [string, string] => {
        return pair[1] !== undefined;
      });
      const made = entries({ inherit: 'all', defaults, overrides: over });
      expect(made.sort()).toEqual(kept.map(toEntry).sort());
    }),
  );
});
