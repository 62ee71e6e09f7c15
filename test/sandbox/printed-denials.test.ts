import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { shellQuote } from '../../src/support/quote.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { makeScene, people, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const [me] = people;

/**
 * What a program has printed in a sandbox, and what is to be told of it: `OUT` is a directory that only
 * the host may write to, with `file`, `dir` and `a b` in it; `WORK` the working directory, which is so
 * too, with `file`. Undefined: nothing.
 */
type Line = readonly [program: string, printed: string, told: string | undefined];

const recorded: readonly Line[] = [
  // Rust
  [
    'cargo, of its cache',
    'warning: failed to write cache, path: OUT/itoa, error: Read-only file system (os error 30)',
    'OUT/itoa',
  ],
  [
    'cargo, of its cache, in a directory that is not there',
    'warning: failed to write cache, path: OUT/no/itoa, error: Read-only file system (os error 30)',
    undefined,
  ],
  [
    'cargo, of what it is about to build',
    'error: Read-only file system (os error 30) at path "OUT/t1hSuYc"',
    'OUT/t1hSuYc',
  ],
  ['cargo, of a cause', '  Read-only file system (os error 30)', undefined],
  [
    'cargo, of a program',
    'error: could not execute process `rustc -vV` (never executed): Permission denied (os error 13)',
    undefined,
  ],
  [
    'a panic',
    `called \`Result::unwrap()\` on an \`Err\` value: Os { code: 30, kind: ReadOnlyFilesystem, message: "Read-only file system" }`,
    undefined,
  ],
  // Go
  [
    'go',
    'failed to initialize build cache at OUT/go: mkdir OUT/go: read-only file system',
    'OUT/go',
  ],
  ['go, of what it makes here', 'open out.txt: read-only file system', 'WORK/out.txt'],
  // Node
  [
    'npm',
    "npm error rofs EROFS: read-only file system, open 'OUT/package.json'",
    'OUT/package.json',
  ],
  ['npm, of the code', 'npm error code EROFS', undefined],
  [
    'npm, of its logs',
    "npm warn logfile could not create logs-dir: Error: EROFS: read-only file system, mkdir 'OUT/_logs'",
    'OUT/_logs',
  ],
  ['node', "Error: EROFS: read-only file system, open 'OUT/n'", 'OUT/n'],
  [
    'node, of two names',
    "Error: EROFS: read-only file system, rename 'OUT/file' -> 'OUT/n'",
    'OUT/file',
  ],
  ['node, of a descriptor', 'Error: EROFS: read-only file system, write', undefined],
  ['node, of modes', "Error: EACCES: permission denied, open 'OUT/locked'", undefined],
  // Python
  ['pip', "OSError: [Errno 30] Read-only file system: 'OUT/q'", 'OUT/q'],
  [
    'pip, of what it installs',
    "ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: 'OUT/six.py'",
    'OUT/six.py',
  ],
  ['python', "OSError: [Errno 30] Read-only file system: 'new.txt'", 'WORK/new.txt'],
  [
    'python, of two names',
    "OSError: [Errno 30] Read-only file system: 'OUT/file' -> 'OUT/g'",
    'OUT/file',
  ],
  ['python, of modes', "PermissionError: [Errno 13] Permission denied: 'OUT/locked'", undefined],
  // git
  ['git init', 'fatal: cannot mkdir OUT/repo: Read-only file system', 'OUT/repo'],
  ['git config', 'error: could not lock config file OUT/cfg: Read-only file system', 'OUT/cfg'],
  ['git clone', "fatal: could not create work tree dir 'OUT/c2': Read-only file system", 'OUT/c2'],
  [
    'git archive',
    "fatal: could not open 'OUT/x.tar' for writing: Read-only file system",
    'OUT/x.tar',
  ],
  ['git, of a directory', 'OUT/.git: Read-only file system', 'OUT/.git'],
  [
    'git, of a lock',
    'error: chmod on OUT/config.lock failed: Read-only file system',
    'OUT/config.lock',
  ],
  ['git, of modes', 'error: unable to create file src/a: Permission denied', undefined],
  ['git, of a key', 'git@example.com: Permission denied (publickey).', undefined],
  // coreutils
  ['cp', "cp: cannot create regular file 'OUT/a b c': Read-only file system", 'OUT/a b c'],
  [
    'cp, of what is here',
    "cp: cannot create regular file 'new': Read-only file system",
    'WORK/new',
  ],
  ['mkdir', 'mkdir: cannot create directory ‘OUT/d’: Read-only file system', 'OUT/d'],
  ['rm', "rm: cannot remove 'OUT/file': Read-only file system", 'OUT/file'],
  [
    'mv',
    "mv: inter-device move failed: 'a' to 'OUT/a'; unable to remove target: Read-only file system",
    'OUT/a',
  ],
  ['touch', "touch: cannot touch 'OUT/n': Read-only file system", 'OUT/n'],
  ['tee', 'tee: OUT/tee: Read-only file system', 'OUT/tee'],
  ['sort', 'sort: open failed: OUT/s: Read-only file system', 'OUT/s'],
  // archives
  ['tar', 'tar: OUT/x.tar: Cannot open: Read-only file system', 'OUT/x.tar'],
  ['tar, of what it unpacks', 'tar: a: Cannot open: Read-only file system', 'WORK/a'],
  ['gzip', 'gzip: OUT/file.gz: Read-only file system', 'OUT/file.gz'],
  [
    'rsync',
    'rsync: [receiver] mkstemp "OUT/.a.Xk2f9Q" failed: Read-only file system (30)',
    'OUT/.a.Xk2f9Q',
  ],
  [
    'rsync, of a directory',
    'rsync: [Receiver] mkdir "OUT/d" failed: Read-only file system (30)',
    'OUT/d',
  ],
  // compilers
  ['ld', '/usr/bin/ld: cannot open output file OUT/a.out: Read-only file system', 'OUT/a.out'],
  [
    'ld, of what it makes here',
    'ld: cannot open output file a.out: Read-only file system',
    'WORK/a.out',
  ],
  ['as', "Fatal error: can't create OUT/a.o: Read-only file system", 'OUT/a.o'],
  ['cc1', 'cc1: fatal error: cannot open ‘OUT/a.s’ for writing: Read-only file system', 'OUT/a.s'],
  ['make, by its shell', '/bin/sh: 1: cannot create OUT/m: Read-only file system', 'OUT/m'],
  ['make, of a program', 'make: ./build.sh: Permission denied', undefined],
  ['make, of a rule', 'make: *** [Makefile:2: OUT/m] Error 2', undefined],
  // shells, scripts
  ['bash', 'bash: line 1: OUT/n m: Read-only file system', 'OUT/n m'],
  ['bash, of a program', 'bash: line 1: ./file: Permission denied', undefined],
  ['dash', 'sh: 1: cannot create OUT/n: Read-only file system', 'OUT/n'],
  ['zsh', 'zsh:1: read-only file system: OUT/n', 'OUT/n'],
  ['perl', "Can't open OUT/n: Read-only file system at -e line 1.", 'OUT/n'],
  ['ruby', 'Read-only file system @ rb_sysopen - OUT/n (Errno::EROFS)', 'OUT/n'],
  ['java', 'java.io.FileNotFoundException: OUT/n (Read-only file system)', 'OUT/n'],
  [
    'java, of no name',
    'Exception in thread "main" java.io.IOException: Read-only file system',
    undefined,
  ],
  [
    'sed',
    "sed: couldn't open temporary file OUT/sedVaGN6I: Read-only file system",
    'OUT/sedVaGN6I',
  ],
  ['curl', 'Warning: Failed to open the file OUT/c: Read-only file system', 'OUT/c'],
  // sentences
  ['a name with blanks', 'x: OUT/a b: Read-only file system', 'OUT/a b'],
  ['a sentence', 'x: OUT/n was not written: Read-only file system', undefined],
  ['a sentence of no name', 'deploy: the target is a Read-only file system', undefined],
  ['a file as a directory', "x: cannot create 'OUT/file/n': Read-only file system", undefined],
  ["somebody's words", "the app doesn't start, it can't: Read-only file system", undefined],
];

describe("U9: of programs' output, only paths are reported", () => {
  const found = new Map<string, readonly string[] | undefined>();
  let real = (text: string) => text;

  beforeAll(async () => {
    const { home, work, outside } = makeScene(scenes.path, me);
    mkdirSync(`${outside}/dir`);
    for (const path of [`${outside}/a b`, `${outside}/locked`, `${work}/file`]) {
      writeFileSync(path, '');
    }
    real = (text) => text.replaceAll('OUT', outside).replaceAll('WORK', work);
    const host = startHost('commands', { env: { HOME: home } });
    for (const [program, printed] of recorded) {
      const command = `printf '%s\\n' ${shellQuote(real(printed))}`;
      const { result } = await host.run(command, { cwd: work, sandbox: 'read-only' });
      found.set(
        program,
        result?.sandbox?.denials.map(({ target }) => target),
      );
    }
    host.child.stdin?.end();
    await host.ended;
  });

  test.each(recorded)('U9: %s', (program, _, told) => {
    expect(found.get(program)).toEqual(told === undefined ? [] : [real(told)]);
  });
});
