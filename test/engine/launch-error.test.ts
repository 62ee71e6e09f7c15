import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { LaunchError, run, spawn } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { exited, failureOf } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();
beforeAll(() => {
  mkdirSync(folder.file('directory'));
  writeFileSync(folder.file('plain'), 'echo hi\n', { mode: 0o644 });
  writeFileSync(folder.file('text'), 'echo hi\n', { mode: 0o755 });
  writeFileSync(folder.file('lost'), '#!/no/such/interpreter\n', { mode: 0o755 });
  chmodSync(folder.file('text'), 0o755);
});

const huge = Object.fromEntries(
  Array.from({ length: 100 }, (_, index) => [`V${index}`, 'x'.repeat(100_000)]),
);

/** What fails, the options that make it fail ($ is the test's folder), and how it is told. */
const failures = [
  ['a directory that is not there', { cwd: '$/none' }, 'directory', 'ENOENT', 2, '$/none'],
  ['a directory that is a file', { cwd: '$/plain' }, 'directory', 'ENOTDIR', 20, '$/plain'],
  ['a directory under a file', { cwd: '$/plain/x' }, 'directory', 'ENOTDIR', 20, '$/plain/x'],
  [
    'a directory with too long a name',
    { cwd: `$/${'x'.repeat(256)}` },
    'directory',
    'ENAMETOOLONG',
    36,
    'xxx',
  ],
  ['a shell that is not there', { shell: ['$/none'] }, 'exec', 'ENOENT', 2, '$/none'],
  ['a shell that is a directory', { shell: ['$/directory'] }, 'exec', 'EACCES', 13, '$/directory'],
  ['a shell that is not executable', { shell: ['$/plain'] }, 'exec', 'EACCES', 13, '$/plain'],
  ['a shell of no known format', { shell: ['$/text'] }, 'exec', 'ENOEXEC', 8, '$/text'],
  ['a shell whose interpreter is missing', { shell: ['$/lost'] }, 'exec', 'ENOENT', 2, '$/lost'],
  ['an environment that is too large', { env: huge }, 'exec', 'E2BIG', 7, 'environment of'],
  [
    'a variable that is too large',
    { env: { BIG: 'x'.repeat(140_000) } },
    'exec',
    'E2BIG',
    7,
    'variable BIG',
  ],
] as const;

const inFolder = (value: object): object =>
  JSON.parse(JSON.stringify(value).replaceAll('$/', `${folder.path}/`));

describe.each(failures)('%s', (_, options, step, code, errno, subject) => {
  const failure = () => ({
    name: 'LaunchError',
    step,
    code,
    errno,
    subject: expect.stringContaining(subject.replace('$', folder.path)),
    message: expect.stringMatching(new RegExp(`^${code}: cannot (enter|execute) .*: [A-Z]`)),
  });

  test('is a launch error of run()', async () => {
    const error = await failureOf(run('echo hi', inFolder(options)));
    expect(error).toBeInstanceOf(LaunchError);
    expect(error).toMatchObject(failure());
  });

  test('is a launch error of spawn(), and the next command works', async () => {
    const error = await failureOf(spawn('echo hi', { ...inFolder(options), stdin: 'pipe' }));
    expect(error).toMatchObject(failure());
    expect((await run('true')).outcome).toEqual(exited(0));
  });
});

test('shells are tried in order until one exists', async () => {
  const shell = [folder.file('none'), join(folder.file('plain'), 'x'), '/bin/sh'];
  expect((await run('exit 5', { shell })).outcome).toEqual(exited(5));
});

test('a shell that exists and cannot run is an error, not a reason to try the next', async () => {
  const shell = [folder.file('plain'), '/bin/sh'];
  expect(await failureOf(run('exit 5', { shell }))).toMatchObject({ code: 'EACCES' });
});

test('the message says what failed, on what, and why', async () => {
  const error = await failureOf(run('true', { cwd: '/no/such/place' }));
  expect(error).toHaveProperty(
    'message',
    "ENOENT: cannot enter directory '/no/such/place': No such file or directory",
  );
});
