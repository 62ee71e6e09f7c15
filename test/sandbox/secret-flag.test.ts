import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cli } from '../support/cli.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();
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
