import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type OnExec, run } from '../../../src/index.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';
import { installed, programPath, where } from '../../support/needs.js';

// Rules over a command's text are passed by each of these; what the kernel is about to execute is one thing.
leavesNothingBehind(60);
const folders = useFolders();

const PYTHON = {
  memfd: `import os
f = os.memfd_create('x', 0)
os.write(f, open('/bin/rm', 'rb').read())
os.execve(f, ['x', '-r', 'd'], {})`,
  fexec: `import os; os.execve(os.open('/bin/rm', os.O_RDONLY), ['x', '-r', 'd'], {})`,
  posixSpawn: `import os; os.waitpid(os.posix_spawn('/bin/rm', ['x', '-r', 'd'], {}), 0)`,
};
const LOADER =
  process.arch === 'arm64' ? '/lib/ld-linux-aarch64.so.1' : '/lib64/ld-linux-x86-64.so.2';

/** The ways to `rm -r d`, and the program that they need. */
const WAYS: readonly (readonly [way: string, command: string, ...needs: string[]])[] = [
  ['as it is', 'rm -r d'],
  ['other flags', 'rm -fr d'],
  ['a substitution', ': $(rm -r d)'],
  ['backticks', ': `rm -r d`'],
  ['a name of a redirection', 'echo x > x$(rm -r d)'],
  ['the body of a here-document', 'cat <<E\n$(rm -r d)\nE'],
  ['after an arithmetic shift', '((1<<2)); rm -r d'],
  ['a process substitution', 'cat <(rm -r d)'],
  ['xargs', 'echo d | xargs rm -r'],
  ['find -exec', 'find . -name d -exec rm -r {} ";"'],
  ['env', 'env rm -r d'],
  ['nice', 'nice rm -r d'],
  ['timeout', 'timeout 5 rm -r d'],
  ['nohup', 'nohup rm -r d'],
  ['a shell in a shell', `sh -c 'sh -c "rm -r d"'`],
  ['eval', `eval 'r''m -r d'`],
  ['a variable', 'X=r; $' + '{X}m -r d'],
  ['base64', 'echo cm0gLXIgZAo= | base64 -d | sh'],
  ['make', `printf 'all:\\n\\trm -r d\\n' > Makefile; make`, 'make'],
  ['subprocess', `python3 -c "import subprocess; subprocess.run(['rm', '-r', 'd'])"`, 'python3'],
  ['os.system', `python3 -c "import os; os.system('rm -r d')"`, 'python3'],
  ['posix_spawn', `python3 -c "${PYTHON.posixSpawn}"`, 'python3'],
  ['node', `node -e "require('child_process').spawnSync('rm', ['-r', 'd'])"`],
  ['perl', `perl -e 'system("rm", "-r", "d")'`, 'perl'],
  ['awk', `awk 'BEGIN { system("rm -r d") }'`, 'awk'],
  ['an interpreter', `printf '#!/bin/rm -r\\n' > s; chmod +x s; ./s d`],
  ['a script', `printf '#!/bin/sh\\nrm -r d\\n' > s; chmod +x s; ./s`],
  [
    'a script of a script',
    `printf '#!/bin/rm -r\\n' > s; printf '#!./s\\n' > t; chmod +x s t; ./t d`,
  ],
  ['a symbolic link', 'ln -s /bin/rm zz; ./zz -r d'],
  ['a hard link', 'ln /bin/rm hh || cp /bin/rm hh; ./hh -r d'],
  ['another name', 'exec -a foo rm -r d'],
  ['/proc/self/cwd', 'cd /bin; /proc/self/cwd/rm -r "$OLDPWD/d"'],
  ['the loader', `${LOADER} /bin/rm -r d`],
  ['a copy of the loader', `cp /bin/rm mm; cp ${LOADER} ll; ./ll ./mm -r d`],
  ['a library of the loader', `ln -s /bin/rm qq; ${LOADER} --library-path . qq -r d`],
  ['a dash before the name', `mkdir ./-x; ln -s /bin/rm ./-x/q; ${LOADER} -x/q -r d`],
  ['a name after the options', `mkdir ./--x; ln -s /bin/rm ./--x/q; ${LOADER} -- --x/q -r d`],
  ['busybox', 'busybox rm -r d', 'busybox'],
  ['a link to busybox', 'ln -s "$(command -v busybox)" rm; ./rm -r d', 'busybox'],
  ['a copy of busybox', 'cp "$(command -v busybox)" bb; exec -a busybox ./bb rm -r d', 'busybox'],
  ['a name that begins as busybox', 'exec -a busyboxes busybox rm -r d', 'busybox'],
  ['busybox at login', 'exec -l busybox rm -r d', 'busybox'],
  ['a program of busybox at login', 'exec -a -rm busybox -r d', 'busybox'],
  ['busybox of busybox', 'busybox busybox rm -r d', 'busybox'],
  ['an alias of git', 'git init -q .; git -c alias.x="!rm -r d" x', 'git'],
  ['ed', `printf '!rm -r d\\nq\\n' | ed`, 'ed'],
  ['setsid', 'setsid rm -r d & wait; sleep 0.2', 'setsid'],
  ['a file in memory', `python3 -c "${PYTHON.memfd}"`, 'python3'],
  ['an open file', `python3 -c "${PYTHON.fexec}"`, 'python3'],
  ['a copy', 'cp /bin/rm cc; ./cc -r d'],
];

const exec = {
  rules: [{ program: 'rm', argv: [/^-\w*r/], answer: 'deny', say: 'use git clean -n first' }],
} as const;

for (const [way, command, ...needs] of WAYS) {
  test(`by ${way} \`rm -r\` is denied, and told`, where(...needs.map(installed)), async () => {
    const cwd = folders();
    mkdirSync(join(cwd, 'd'));
    const env = { GIT_CONFIG_GLOBAL: '/dev/null', PATH: process.env.PATH };
    const result = await run(command, { cwd, env, sandbox: { exec } });
    expect(existsSync(join(cwd, 'd'))).toBe(true);
    const denied = result.executed?.filter(({ decision }) => decision === 'deny');
    expect(denied?.[0]).toMatchObject({ why: 'rule', exact: true, say: 'use git clean -n first' });
    const denial = { kind: 'exec', rule: 'exec', source: 'kernel', say: 'use git clean -n first' };
    expect(result.sandbox?.denials).toContainEqual(expect.objectContaining(denial));
  });
}

test('by a name of `git` with its first argument, what is said of this argument holds', {
  skip: !installed('git').isMet,
}, async () => {
  const git = '"$(git --exec-path)/git-push"';
  const command = `git init -q .; ${git} x; (exec -a git-push git x); exec -a git-status git`;
  const rules = [{ program: 'git', argv: ['push'], answer: 'deny' }] as const;
  const env = { GIT_CONFIG_GLOBAL: '/dev/null', PATH: process.env.PATH };
  const result = await run(command, { cwd: folders(), env, sandbox: { exec: { rules } } });
  expect(result.executed?.map(({ argv }) => argv.slice(1))).toEqual([['x'], ['x']]);
  expect(result.outcome).toEqual({ kind: 'exited', exitCode: 0 });
});

test('what a search in PATH finds by several paths is denied, told and asked about once', async () => {
  const cwd = folders();
  symlinkSync('/bin', join(cwd, 'bin'));
  const PATH = `${join(cwd, 'bin')}:/usr/bin:/bin`;
  const onExec = vi.fn<OnExec>(() => 'deny');
  const rules = [{ program: 'rm', answer: 'ask' }] as const;
  const options = { cwd, env: { PATH }, sandbox: { exec: { rules } }, onExec };
  const { executed } = await run('env rm -r d; echo $?; env rm x', options);
  expect(executed?.map(({ argv }) => argv)).toEqual([
    ['rm', '-r', 'd'],
    ['rm', 'x'],
  ]);
  expect(onExec).toHaveBeenCalledTimes(2);
  // The same path again is another attempt.
  const again = `perl -e 'for (1, 2) { system { "/bin/rm" } "rm", "x" } exec { "/bin/rm" } "rm"'`;
  expect((await run(again, options)).executed).toHaveLength(3);
});

test('what the rule does not name runs: `rm` of a file, and other programs of busybox', async () => {
  const cwd = folders();
  const many =
    programPath('busybox') === undefined ? 'rm y' : 'busybox ls >/dev/null; busybox rm y';
  const result = await run(`touch x y; rm x; rm -f x; ${many}; ls`, { cwd, sandbox: { exec } });
  expect(result).toMatchObject({ executed: [], output: { text: '' } });
});

test.each(['/usr/bin:/bin', '/usr/bin:/usr/local/bin:/usr/bin:/bin'])(
  'who tries the next directory of %s after a denial is not asked about again',
  async (PATH) => {
    let asked = 0;
    const onExec = () => (++asked === 1 ? 'deny' : 'allow') as 'deny' | 'allow';
    const sandbox = { exec: { rules: [{ program: 'rm', answer: 'ask' }] } } as const;
    const command = "mkdir d; sh -c 'rm -r d'; ls";
    const result = await run(command, { cwd: folders(), env: { PATH }, sandbox, onExec });
    const text = result.output.kind === 'complete' ? result.output.text : '';
    expect([asked, text]).toEqual([1, 'sh: 1: rm: Permission denied\nd\n']);
    expect(result.executed).toEqual([expect.objectContaining({ why: 'asked' })]);
  },
);
