import { expect, test } from 'vitest';
import { run } from '../../../src/index.js';
import { shellQuote } from '../../../src/support/quote.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';

// Expressions are JavaScript's, and another engine decides. To that each character is one, as with the flag u.
leavesNothingBehind(10);
const folders = useFolders();

const EXPRESSIONS = [
  /^-\w*r/,
  /^-\w*[rR]|^--recursive$/,
  /^--?f(?:orce)?$/i,
  /\b(?:main|master)\b/,
  /^(?!-)/,
  /(?<=:)main$/,
  /(?<!a)b/,
  /(?=.*\d)(?=.*[a-z])/,
  /^\s|\s$/,
  /^$/,
  /a{2,3}?b/,
  /[^\w.-]/,
  /^.$/u,
  /^.$/su,
  /^a$/m,
  /[a-z-]+\.\w{2,}/u,
  /\p{L}/u,
  /\P{Lu}/u,
  /^[à-ÿ]+$/i,
  /é/iu,
  /(?<first>a)|(?<second>b)/,
  /(a+|b*)*c/,
  /\x2f\u0065/,
  /\//,
  /\0|\cA/,
  /[\b]/,
  /^\u{1F600}$/u,
  /σ/i,
  /ß/i,
  /^[\s\S]{5,}$/,
  /\$\{?HOME/,
  /[\]]/,
  /-/,
  /x{/,
  /a|/,
  /\W$/,
] as const;
const TEXTS = [
  '',
  '-rf',
  '--recursive',
  '-f',
  '--FORCE',
  'main',
  'HEAD:main',
  'domain',
  'ab',
  'aaab',
  ' a',
  'a b',
  'a\nb',
  '\n',
  'a1',
  'é',
  'É',
  'Üß',
  '/etc/x',
  '\x01',
  '\b',
  '😀',
  'ς',
  '$HOME',
  '[]',
  'x{',
  'example.org',
  '%41,b',
] as const;

test('they hold for the arguments for which they hold in JavaScript', async () => {
  const rules = EXPRESSIONS.map((expression, number) => {
    return { program: `t${number}`, argv: [expression], exact: true, answer: 'deny' } as const;
  });
  const calls = EXPRESSIONS.flatMap((_, number) =>
    TEXTS.map((text) => `./t${number} ${shellQuote([text])} 2>/dev/null && echo || echo ${number}`),
  );
  const links = EXPRESSIONS.map((_, number) => `ln -s /bin/true t${number}`);
  const command = [...links, ...calls].join('\n');
  const result = await run(command, { cwd: folders(), sandbox: { exec: { rules } } });
  const denied = result.output.kind === 'complete' ? result.output.text.split('\n') : [];
  const all = EXPRESSIONS.flatMap((it, number) =>
    TEXTS.map((text) => [String(it), text, it.test(text) ? `${number}` : ''] as const),
  );
  const differing = all.filter(([, , expected], number) => denied[number] !== expected);
  expect(differing).toEqual([]);
});
