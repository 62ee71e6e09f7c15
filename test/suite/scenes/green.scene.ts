import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { need, where } from '../../support/needs.js';

test('a run has surroundings of its own', () => {
  expect(tmpdir()).toMatch(/^\/[\w./-]+\/forkline-test-\w+\/tmp$/);
  expect(process.umask()).toBe(0o022);
  accessSync(homedir(), constants.W_OK);
  const said = execFileSync('bash', ['-c', 'echo hi 2>&1; perl -e 1 2>&1'], { encoding: 'utf8' });
  expect(said).toBe('hi\n');
});

test('what needs the moon', where(need(false, 'there is no moon')), () => {});
test.each([1, 2])('what needs the sun (%d)', where(need(false, 'there is no sun')), () => {});
test('what takes long', { tags: ['slow'] }, () => {});
