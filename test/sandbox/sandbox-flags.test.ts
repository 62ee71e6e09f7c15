import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SandboxFlags, sandboxOf } from '../../src/cli/sandbox-flags.js';
import type { SandboxExec, SandboxOption } from '../../src/index.js';
import { cli } from '../support/cli.js';
import { leavesNothingBehind, useFolders } from '../support/leftovers.js';

leavesNothingBehind();
const newFolder = useFolders();
const VALUE = 'npm_0123456789abcdefABCDEF0123456789abcd';

describe('forkline run --secret', () => {
  beforeAll(() => {
    process.env.SOME_SECRET = VALUE;
  });
  afterAll(() => {
    delete process.env.SOME_SECRET;
  });

  test('gives the command a stand-in for a variable of its own environment', async () => {
    const flags = ['--sandbox', 'read-only', '--secret', 'SOME_SECRET=example.com,*.example.org'];
    const { code, stdout } = await cli('run', ...flags, '--cwd', '/', 'echo "$SOME_SECRET"');
    expect(stdout.toString()).toMatch(/^npm_[A-Za-z\d]{36}\n$/);
    expect(stdout.toString()).not.toContain(VALUE);
    expect(code).toBe(0);
  });

  test.each([
    [
      ['--secret', 'SOME_SECRET=a'],
      'expected together with --sandbox read-only or workspace-write',
    ],
    [
      ['--sandbox', 'danger-full-access', '--secret', 'SOME_SECRET=a'],
      'expected together with --sandbox read-only or workspace-write',
    ],
    [
      ['--sandbox', 'read-only', '--secret', 'NO_SUCH=example.com'],
      '--secret NO_SUCH: the environment variable NO_SUCH is not set',
    ],
    [
      ['--sandbox', 'read-only', '--secret', 'SOME_SECRET=https://a'],
      'sandbox.secrets.SOME_SECRET.domains: expected an array of names',
    ],
    [['--sandbox', 'read-only', '--secret', 'SOME_SECRET'], 'Expected NAME=DOMAIN,DOMAIN.'],
  ])('%j is refused, and the message says what would be right', async (flags, message) => {
    const { code, stderr } = await cli('run', ...flags, 'true');
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(VALUE);
  });
});

const REACH = [{ inside: 5432, host: 5432 }];

const RULES: SandboxExec = { rules: [{ answer: 'deny' }] };

test.each<[flags: SandboxFlags, given: unknown, sandbox: SandboxOption | undefined]>([
  [{}, { sshAgent: true }, undefined],
  [{ sandbox: 'read-only' }, undefined, 'read-only'],
  [{ sandbox: 'read-only' }, 'workspace-write', 'read-only'],
  [
    { sandbox: 'read-only' },
    { mode: 'workspace-write', sshAgent: true },
    { mode: 'read-only', sshAgent: true },
  ],
  [{ reach: REACH }, 'read-only', { mode: 'read-only', ports: { reach: REACH } }],
  [
    { sandbox: 'workspace-write', publish: 'auto' },
    { sshAgent: true, settings: 'read-only', ports: { reach: [1], publish: [80] } },
    {
      mode: 'workspace-write',
      sshAgent: true,
      settings: 'read-only',
      ports: { reach: [1], publish: 'auto' },
    },
  ],
  [
    { reach: REACH, publish: REACH },
    { ports: { reach: [1], publish: 'auto', dangerous: true } },
    { ports: { reach: [1, ...REACH], publish: REACH, dangerous: true } },
  ],
  [{ policy: { sshAgent: true } }, undefined, { sshAgent: true }],
  [{ execRules: RULES }, 'read-only', { mode: 'read-only', exec: RULES }],
  [
    { execRules: RULES, sandbox: 'danger-full-access' },
    undefined,
    { mode: 'danger-full-access', exec: RULES },
  ],
  [{ execRules: RULES }, 'danger-full-access', { mode: 'danger-full-access', exec: RULES }],
  [
    { execRules: RULES, policy: { exec: { record: true, rules: [{ answer: 'ask' }] } } },
    undefined,
    { exec: { record: true, rules: [{ answer: 'deny' }, { answer: 'ask' }] } },
  ],
  [
    { execRules: { otherwise: 'deny' }, policy: { exec: { rules: [{ answer: 'ask' }] } } },
    undefined,
    { exec: { otherwise: 'deny', rules: [{ answer: 'ask' }] } },
  ],
  [{ policy: {}, sandbox: 'read-only' }, undefined, { mode: 'read-only' }],
  [
    { policy: { mode: 'read-only', ports: { reach: [1] } }, sandbox: 'read-only', reach: REACH },
    undefined,
    { mode: 'read-only', ports: { reach: [1, ...REACH] } },
  ],
  // The library says what is wrong with these.
  [{ reach: REACH }, 'strict', { mode: 'strict' as 'read-only', ports: { reach: REACH } }],
  [{ reach: REACH }, { ports: { reach: 'x' } }, { ports: { reach: 'x' as unknown as [] } }],
])('the flags %j beside %j ask for %j', (flags, given, sandbox) => {
  expect(sandboxOf(flags, given)).toEqual(sandbox);
});

test.each([undefined, null, 'danger-full-access'])('ports beside %j have no sandbox', (given) => {
  expect(() => sandboxOf({ reach: REACH }, given)).toThrow(/^--reach: expected together with/);
});

test('rules for programs have no sandbox without one that was asked for', () => {
  const message = /^--exec-rules: expected together with --sandbox, or --policy$/;
  expect(() => sandboxOf({ execRules: RULES })).toThrow(message);
  const mode = 'danger-full-access';
  expect(() => sandboxOf({ execRules: RULES, reach: REACH, sandbox: mode })).toThrow(/^--reach: /);
});

describe('forkline run --exec-rules', () => {
  test.each<[text: string, message: string]>([
    ['[', 'Unexpected end of JSON input'],
    ['5', 'Expected an array of rules, or an object with rules, in the file.'],
    ['[{"answer": "no"}]', "sandbox.exec.rules[0].answer: expected 'allow' or 'deny' or 'ask'"],
    ['{"rule": []}', 'sandbox.exec.rule'],
  ])('a file with %j is refused, and it is said why', async (text, message) => {
    const file = join(newFolder(), 'rules.json');
    writeFileSync(file, text);
    const flags = ['--sandbox', 'read-only', '--exec-rules', file];
    const { code, stderr } = await cli('run', ...flags, 'true');
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });

  test('a file that is not there is named', async () => {
    const { code, stderr } = await cli('run', '--exec-rules', '/no/such/file', 'true');
    expect(code).not.toBe(0);
    expect(stderr).toContain("no such file or directory, open '/no/such/file'");
  });
});

test.each<[flags: SandboxFlags, given: unknown, message: RegExp]>([
  [
    { policy: { mode: 'workspace-write' }, sandbox: 'read-only' },
    undefined,
    /^--policy: expected the mode of --sandbox, 'read-only', or none, got "workspace-write"$/,
  ],
  [{ policy: {} }, 'read-only', /^--policy: expected no sandbox in --options/],
  [{ policy: {} }, { secrets: 'the secret' }, /^--policy: (?!.*the secret)/],
])('two sandboxes, %j and %j, are refused', (flags, given, message) => {
  expect(() => sandboxOf(flags, given)).toThrow(message);
});

describe('forkline run --policy', () => {
  test('is a whole policy, to which other flags add', async () => {
    const policy = JSON.stringify({ filesystem: { denyRead: ['/usr/share'] } });
    const flags = ['--policy', policy, '--sandbox', 'read-only', '--publish', '8126'];
    const command = 'ls /usr/share 2>/dev/null | wc -l; touch ~/new';
    const { code, stdout, stderr } = await cli('run', ...flags, '--cwd', '/', command);
    expect(stdout.toString()).toMatch(/^0\n/);
    const denied = `write ${join(homedir(), 'new')} (allowWrite)`;
    expect(stderr).toContain(`forkline: The sandbox denied: ${denied}`);
    expect(code).toBe(1);
  });

  test.each([
    ['{"sshAgents": true}', 'sandbox.sshAgents: '],
    ['[]', 'Expected a JSON object.'],
    [`{"secrets":{"A":{"value":"${VALUE}","domains":["a.test"]}}}`, 'use --secret'],
  ])('%s is refused', async (policy, message) => {
    const { code, stdout, stderr } = await cli('run', '--policy', policy, 'echo run');
    expect(code).not.toBe(0);
    expect(stdout.toString()).toBe('');
    expect(stderr).toContain(message);
  });
});
