import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nonInteractiveDefaults } from '../../src/contracts/non-interactive.js';

let repository = '';
beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'forkline-editor-'));
  git('init', '--quiet');
  writeFileSync(join(repository, 'file'), 'one\n');
  git('add', 'file');
});
afterAll(() => {
  rmSync(repository, { recursive: true });
});

function git(...args: readonly string[]) {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b.c'];
  return spawnSync('git', [...identity, ...args], {
    cwd: repository,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: repository, ...nonInteractiveDefaults(true) },
  });
}

test('a commit without a message fails, and says that there is no editor', () => {
  const commit = git('commit');
  expect(commit.status).toBe(1);
  expect(commit.stderr).toContain('No editor is available here');
  expect(git('rev-parse', 'HEAD').status).not.toBe(0);
});

test('an amend and an interactive rebase change nothing', () => {
  expect(git('commit', '-m', 'first').status).toBe(0);
  expect(git('commit', '--allow-empty', '-m', 'second').status).toBe(0);
  const before = git('rev-parse', 'HEAD').stdout;
  const amend = git('commit', '--amend', '--allow-empty');
  expect(amend.status).toBe(1);
  expect(amend.stderr).toContain('No editor is available here');
  expect(git('rebase', '-i', 'HEAD~1').status).toBe(1);
  git('rebase', '--abort');
  expect(git('rev-parse', 'HEAD').stdout).toBe(before);
});

test('the editor fails however a program appends the file', () => {
  const { EDITOR = '' } = nonInteractiveDefaults(true);
  const inShell = spawnSync('sh', ['-c', `${EDITOR} "/tmp/a file"`], { encoding: 'utf8' });
  expect(inShell.status).toBe(1);
  expect(inShell.stderr).toContain('No editor is available here');
  const [program = '', ...words] = EDITOR.split(' ');
  expect(spawnSync(program, [...words, '/tmp/file']).status).not.toBe(0);
});

test('the password program exists and fails', () => {
  const { SSH_ASKPASS = '' } = nonInteractiveDefaults(true);
  expect(SSH_ASKPASS).toMatch(/^\/.*\/false$/);
  expect(spawnSync(SSH_ASKPASS).status).toBe(1);
});

test('CI can be left out, and each setting is one object', () => {
  expect(nonInteractiveDefaults(true).CI).toBe('true');
  expect(nonInteractiveDefaults(false)).not.toHaveProperty('CI');
  expect(nonInteractiveDefaults(false)).toBe(nonInteractiveDefaults(false));
});

test('every name can be spelled by bash', () => {
  for (const name of Object.keys(nonInteractiveDefaults(true))) {
    expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
  }
});
