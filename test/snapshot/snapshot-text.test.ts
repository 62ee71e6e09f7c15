import { expect, test } from 'vitest';
import { run } from '../../src/index.js';
import { parseCapture } from '../../src/snapshot/capture-script.js';
import { keptFunctions } from '../../src/snapshot/kept-functions.js';
import { keptVariables } from '../../src/snapshot/kept-variables.js';
import { changedOptions, snapshotText, withSnapshot } from '../../src/snapshot/snapshot-text.js';
import { fc } from '../support/properties.js';
import { printed } from '../support/results.js';

const text = fc.string({
  unit: fc.constantFrom(
    'a',
    ' ',
    '\n',
    "'",
    '"',
    '\\',
    '$',
    '`',
    '!',
    '(',
    ';',
    '#',
    '\xe9',
    '\x01',
  ),
  maxLength: 30,
});
const name = fc.constantFrom('ll', '..', 'x+y', '-', '_p', 'f', 'g:h', '__q', 'é');

const nothing = { directory: '/no/such', declarations: [], options: [], aliases: new Map() };

test("the shell's dump is parsed whatever is in it", () => {
  const records = fc.dictionary(name, text);
  fc.assert(
    fc.property(records, records, text, (aliases, functions, path) => {
      const pairs = (kind: string, of: Record<string, string>) =>
        Object.entries(of).flatMap(([key, value]) => [kind, key, value]);
      const fields = [
        ...['before', 'set +o x\n', 'after', 'set -o x\n', 'path', path],
        ...['was', 'a', 'declare -- a="1"\n', 'was', 'b', 'declare -- b="1"\n'],
        ...['is', 'a', '1', 'declare -- a="1"\n', 'is', 'b', path, 'declare -x b="2"\n'],
        ...pairs('alias', aliases),
        ...pairs('function', functions),
        'end',
      ];
      expect(parseCapture(fields.map((field) => `${field}\0`).join(''))).toEqual({
        optionsBefore: ['set +o x', ''],
        optionsAfter: ['set -o x', ''],
        path,
        variables: new Map([['b', { value: path, declaration: 'declare -x b="2"\n' }]]),
        aliases: new Map(Object.entries(aliases)),
        functions: new Map(Object.entries(functions)),
      });
    }),
  );
});

test('an incomplete dump is not used', () => {
  const whole = 'before\0\0after\0\0path\0/bin\0alias\0a\0b\0end\0';
  expect(parseCapture(whole)).toBeDefined();
  for (let end = 0; end < whole.length - 1; end += 1) {
    expect(parseCapture(whole.slice(0, end))).toBeUndefined();
  }
  expect(parseCapture('bash: something else')).toBeUndefined();
});

test('bash gets every alias unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      const snapshot = snapshotText({ ...nothing, aliases: new Map([['the-one', value]]) });
      const command = `exec 2>/dev/null\n${snapshot}\nprintf %s "\${BASH_ALIASES[the-one]}"`;
      expect(printed(await run(command))).toBe(value);
    }),
    { numRuns: 60 },
  );
});

test('a command that is parsed after the snapshot is unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (word) => {
      const command = `printf %s '${word.replaceAll("'", `'\\''`)}'`;
      const text = withSnapshot("/no/such 'file", ['stubs', 'f'], command);
      expect(printed(await run(text))).toBe(word);
    }),
    { numRuns: 60 },
  );
});

test('private functions are kept only when they are called', () => {
  const functions = new Map([
    ['f', 'f () { _a; }'],
    ['_a', '_a () { __b; }'],
    ['__b', '__b () { _a; }'],
    ['_c', '_c () { f; }'],
    ['_d', '_d () { :; }'],
    ['bad name', 'bad name () { :; }'],
    ['eval', 'eval () { :; }'],
  ]);
  const kept = keptFunctions(functions, ['_d --all']);
  expect([...kept.keys()].sort()).toEqual(['__b', '_a', '_d', 'f']);
});

test('H6: private functions are kept when a kept one calls a computed name', () => {
  const namesIn = (caller: string) => {
    const functions = new Map([
      ['ls', `ls () \n{ \n    ${caller} "$@"\n}`],
      ['_my_ls', '_my_ls () \n{ \n    :\n}'],
      ['_complete', '_complete () \n{ \n    _words;\n    COMPREPLY=()\n}'],
      ['_words', '_words () \n{ \n    :\n}'],
    ]);
    return [...keptFunctions(functions, []).keys()];
  };
  for (const caller of ['"_my_$FUNCNAME"', '$helper', '"$h"_ls', 'eval "_my_ls"; eval $x', '`x`']) {
    expect(namesIn(caller)).toEqual(['ls', '_my_ls']);
  }
  for (const caller of ['echo', 'x="$y" printf', 'command -v']) {
    expect(namesIn(caller)).toEqual(['ls']);
  }
});

test('D2: commands get neither variables of the shell itself nor unset ones', () => {
  const exported = (name: string, value = '1') =>
    [name, { value, declaration: `declare -x ${name}="${value}"\n` }] as const;
  const variables = new Map([
    ...['IFS', 'PS9', 'BASH_X', 'SECONDS', 'PATH', 'forkline_name', 'MINE'].map((one) =>
      exported(one),
    ),
    ['EMPTY', { value: '', declaration: 'declare -x EMPTY\n' }],
    ['list', { value: 'a', declaration: 'declare -ax list=([0]="a")\n' }],
    exported('DENIED'),
    exported('ACCENT', '\xc3\xa9'),
  ]);
  expect(keptVariables({ variables }, (name) => name !== 'DENIED')).toEqual({
    exported: { MINE: '1', ACCENT: 'é' },
    declared: new Map([['list', { value: 'a', declaration: 'declare -ax list=([0]="a")\n' }]]),
  });
});

test('only options that have changed are set, and none that is for a terminal', () => {
  const optionsBefore = ['shopt -u globstar', 'set +o pipefail', 'set +o vi', 'shopt -s cmdhist'];
  const optionsAfter = [
    'shopt -s globstar',
    'set -o pipefail',
    'set -o vi',
    'shopt -s cmdhist',
    'rm x',
  ];
  const options = changedOptions({ optionsBefore, optionsAfter });
  expect(snapshotText({ ...nothing, options }).split('\n')).toEqual([
    '\\unset -f builtin command eval',
    '\\builtin shopt -s expand_aliases extglob',
    '\\builtin command . /no/such/"$1"',
    '\\builtin shopt -u extglob',
    '\\builtin shopt -s globstar',
    '\\builtin set -o pipefail',
    '',
  ]);
});
