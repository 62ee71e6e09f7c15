import { expect, test } from 'vitest';
import type { SandboxPolicy } from '../../../src/index.js';
import { plainOptions } from '../../../src/remote/near/plain.js';
import { readSandbox } from '../../../src/sandbox/read-policy.js';

const refusalOf = (sandbox: unknown): string => {
  try {
    readSandbox(sandbox);
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : 'none';
  }
  return 'none';
};

/** A policy with one rule. */
const ruled = (rule: unknown): unknown => ({ exec: { rules: [rule] } });
const matching = (pattern: unknown): unknown => ruled({ answer: 'deny', argv: ['x', pattern] });

test.each<[unknown, string]>([
  [{ exec: true }, 'sandbox.exec: expected an object, got true'],
  [{ exec: { rule: [] } }, 'sandbox.exec.rule'],
  [{ exec: { record: 1 } }, 'sandbox.exec.record: expected true or false, got 1'],
  [{ exec: { otherwise: 'no' } }, "otherwise: expected 'allow' or 'deny' or 'ask', got \"no\""],
  [{ exec: { askTimeoutMs: 0 } }, 'askTimeoutMs: expected a whole number from 1 to 3600000, got 0'],
  [{ exec: { askTimeoutMs: 4e6 } }, 'from 1 to 3600000, got 4000000'],
  [{ exec: { rules: {} } }, 'sandbox.exec.rules: expected an array of rules, got {}'],
  [
    { exec: { rules: Array.from({ length: 257 }, () => ({ answer: 'deny' })) } },
    'sandbox.exec.rules: expected at most 256 rules, got 257',
  ],
  [ruled('deny'), 'sandbox.exec.rules[0]: expected an object, got "deny"'],
  [ruled({ answer: 'deny', args: [] }), 'sandbox.exec.rules[0].args'],
  [ruled({ program: 'rm' }), 'sandbox.exec.rules[0].answer: expected'],
  [ruled({ answer: 'deny', exact: 'yes' }), 'rules[0].exact: expected true or false, got "yes"'],
  [ruled({ answer: 'deny', program: 5 }), 'rules[0].program: expected the name of a program, or'],
  [ruled({ answer: 'deny', program: [] }), 'rules[0].program: expected at least one program'],
  [ruled({ answer: 'deny', program: ['rm', ''] }), 'rules[0].program[1]: expected the name of a'],
  [ruled({ answer: 'deny', program: '/usr/bin/' }), 'a program, or a path, got "/usr/bin/"'],
  [ruled({ answer: 'deny', program: 'a\0b' }), 'rules[0].program: expected the name'],
  [ruled({ answer: 'deny', program: 'x'.repeat(1001) }), 'at most 1000 characters, got 1001'],
  [
    ruled({ answer: 'deny', program: Array.from({ length: 65 }, () => 'rm') }),
    'rules[0].program: expected at most 64 programs, got 65',
  ],
  [ruled({ answer: 'deny', say: ['no'] }), 'rules[0].say: expected a text, got ["no"]'],
  [ruled({ answer: 'deny', say: 'a\0' }), 'expected a text without NUL and lone surrogates'],
  [ruled({ answer: 'deny', say: 'x'.repeat(1001) }), 'rules[0].say: expected at most 1000'],
  [ruled({ answer: 'deny', argv: 'push' }), 'rules[0].argv: expected an array of patterns'],
  [
    ruled({ answer: 'deny', argv: Array.from({ length: 65 }, () => 'x') }),
    'rules[0].argv: expected at most 64 patterns, got 65',
  ],
  [matching(7), 'argv[1]: expected a text, a regular expression or { matches, flags }, got 7'],
  [matching('\ud800'), 'argv[1]: expected a pattern without NUL and lone surrogates'],
  [matching({ source: 'x' }), 'sandbox.exec.rules[0].argv[1].source'],
  [matching({ matches: 1 }), 'argv[1].matches: expected a regular expression, got 1'],
  [matching({ matches: '(' }), 'argv[1]: expected a regular expression of JavaScript, got "(": '],
  [matching({ matches: '\\p{x', flags: 'u' }), 'a regular expression of JavaScript'],
  [matching({ matches: 'x', flags: 'x' }), 'argv[1].flags: expected flags of i, m, s and u, each'],
  [matching({ matches: 'x', flags: 'ii' }), 'argv[1].flags: expected flags of i, m, s and u, each'],
  [
    matching(/x/g),
    'argv[1]: expected flags of i, m, s and u, each once, got "g"; \'g\' is about rep',
  ],
  [matching(/x/y), "'y' is about repeated searches"],
  [matching({ matches: 'x', flags: 'v' }), 'got "v"'],
  [matching(/x/d), 'got "d"'],
  [matching(/(a)\1/), 'argv[1]: expected a regular expression without references to groups, got'],
  [matching(/(?<n>a)\k<n>/), 'without references to groups'],
  [matching({ matches: '\\1' }), 'without references to groups'],
  [matching({ matches: '\\uD83d' }), 'without halves of characters'],
  [matching({ matches: '\\\\\\u{61}' }), 'without `\\u{…}` where there is no flag u'],
  [matching(/😀/), 'without characters beyond U+FFFF where there is no flag u'],
  [matching(/\p{Lu}/iu), 'without `\\p` with the flag i'],
  [{ exec: {}, require: 'landlock' }, "sandbox.exec: expected nothing with require 'landlock'"],
])('of the rules for programs in %j it is said what is wrong', (policy, said) => {
  const refusal = refusalOf(policy);
  expect(refusal).toMatch(/^InputError: sandbox\.exec/);
  expect(refusal).toContain(said);
});

test.each<SandboxPolicy>([
  { exec: {} },
  { exec: { record: true }, require: 'best-effort' },
  { exec: { rules: [{ answer: 'ask' }] }, mode: 'danger-full-access' },
  {
    exec: { rules: [{ program: ['git', '~/bin/x', './y'], argv: ['', /a/imsu], answer: 'deny' }] },
  },
  { exec: { rules: [{ argv: [/\p{Lu}|\u{61}|😀/u, /\\1/, /\0/], answer: 'deny' }] } },
  { exec: { rules: [{ argv: [{ matches: '^-', flags: 'i' }], answer: 'allow', say: 'Yes.' }] } },
])('these rules for programs are valid: %j', (policy) => {
  expect(refusalOf(policy)).toBe('none');
});

test('a field of a rule that is null is left out', () => {
  const nulls = { program: null, argv: null, exact: null, say: null, answer: 'deny' };
  expect(refusalOf(ruled(nulls))).toBe('none');
  expect(refusalOf({ exec: { rules: null, record: null, otherwise: null } })).toBe('none');
  expect(refusalOf(matching({ matches: 'x', flags: null }))).toBe('none');
});

test('regular expressions of rules go to another machine as plain data', () => {
  const rules = [{ answer: 'deny', argv: ['a', /^-\w*r/i, { matches: 'x' }] }];
  const plain = plainOptions({ sandbox: { exec: { rules } } }, 'leave it out');
  const sent: unknown = JSON.parse(JSON.stringify(plain));
  const argv = ['a', { matches: '^-\\w*r', flags: 'i' }, { matches: 'x' }];
  expect(sent).toEqual({ sandbox: { exec: { rules: [{ answer: 'deny', argv }] } } });
  expect(() => plainOptions({ sandbox: { workspace: /x/ } }, 'no')).toThrow(/^sandbox\.workspace/);
});
