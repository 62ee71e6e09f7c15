import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../src/index.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';

// A repository that is none any more would have git look for another one, and an index with odd paths would have
// it write anywhere.
leavesNothingBehind(60);
const folders = useFolders();
const sandbox = 'workspace-write';

/** Makes a repository with a commit of one file. */
function repository(format = 'sha1'): string {
  const work = join(folders(), 'work');
  const script = `git init -q -b main --object-format=${format} work; cd work; echo 1 > file; git add file
    git config user.name a; git config user.email a@b; git commit -q -m first`;
  execFileSync('sh', ['-c', script], { cwd: join(work, '..'), stdio: 'ignore' });
  return work;
}

const outside = (cwd: string, script: string): string =>
  execFileSync('sh', ['-c', script], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** A repository of the command's own at the top, which starts a program. */
const BARE = `mkdir -p objects refs; echo 'ref: refs/heads/main' > HEAD
  printf '[core]\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = touch %s/ran; false\\n' "$PWD" > config`;

test.each([
  ['rm -f .git/HEAD'],
  ['mv .git/HEAD .git/x'],
  ['echo x > .git/HEAD'],
  ['echo x > .git/HEAD.lock; mv -f .git/HEAD.lock .git/HEAD'],
  [
    'exec 3> .git/h; echo ref: refs/heads/main >&3; mv -f .git/h .git/HEAD; truncate -s 0 /proc/self/fd/3; echo x >&3',
  ],
  ['ln -sf x .git/HEAD'],
  ['ln .git/HEAD .git/x; echo x > .git/x'],
  ['mv .git/refs .git/x'],
  ['rm -rf .git/refs'],
  ['rm -rf .git/objects'],
  ['mv .git/objects .git/x'],
  ['chmod 0 .git/refs; chmod 0 .git/objects; chmod 0 .git/HEAD'],
])('after `%s` git finds the same repository', async (command) => {
  const work = repository();
  await run(`${command}; ${BARE}`, { cwd: work, sandbox });
  expect(outside(work, 'git status >/dev/null; git rev-parse --git-dir')).toBe('.git\n');
  expect(existsSync(join(work, 'ran'))).toBe(false);
  expect(readFileSync(join(work, '.git/HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
});

test('HEAD moves as git moves it, and as a program that writes it in place', async () => {
  const work = repository();
  const command = `set -e; git switch -q -c a; git checkout -q --detach; echo 'ref: refs/heads/a' > .git/HEAD
    git branch --show-current; git branch -m b; cat .git/HEAD`;
  const { output } = await run(command, { cwd: work, sandbox });
  expect(output).toMatchObject({ text: 'a\nref: refs/heads/b\n' });
});

/** Makes an index whose entry for `file` has another path, as a command could. */
const planted = (path: string, hash: number) => `python3 - <<'END'
import hashlib, struct
d = open('.git/index', 'rb').read()
h = ${hash}
name = ${JSON.stringify(path)}.encode()
fixed = bytearray(d[12:12 + 42 + h])
fixed[:16] = bytes(16)
fixed[24:28] = struct.pack('>I', 0o100755)
fixed[40 + h:] = struct.pack('>H', len(name))
entry = bytes(fixed) + name
entry += bytes(8 - len(entry) % 8)
body = b'DIRC' + struct.pack('>II', 2, 1) + entry
digest = hashlib.sha1 if h == 20 else hashlib.sha256
open('planted', 'wb').write(body + digest(body).digest())
END
`;

const WAYS = [
  ['renaming', 'cp planted .git/index.lock; mv -f .git/index.lock .git/index'],
  ['writing in place', 'cp planted .git/index'],
  [
    'writing after a rename',
    'exec 3> .git/i; cp .git/index .git/i; mv -f .git/i .git/index; cat planted >&3',
  ],
  ['a second name', 'ln -f .git/index .git/i; cat planted > .git/i'],
  [
    'a split index',
    'cp planted .git/s; mv .git/s .git/sharedindex.0000000000000000000000000000000000000000; cp planted .git/i; mv .git/i .git/index',
  ],
] as const;

test.each(
  WAYS.flatMap(([name, way]) =>
    ['.git/hooks/post-checkout', '../out', 'a/../../out', '.GIT/x'].map(
      (path) => [path, name, way] as const,
    ),
  ),
)('an index with the path %s does not come to be by %s', async (path, _, way) => {
  const work = repository();
  await run(`${planted(path, 20)} ${way}; true`, { cwd: work, sandbox });
  expect(outside(work, 'git ls-files')).toBe('file\n');
  outside(work, 'git checkout -q . || true');
  expect(existsSync(join(work, path))).toBe(false);
});

test('in a repository with longer names of objects neither', async () => {
  const work = repository('sha256');
  const way = 'cp planted .git/i; mv -f .git/i .git/index; true';
  await run(`${planted('.git/hooks/post-checkout', 32)} ${way}`, { cwd: work, sandbox });
  expect(outside(work, 'git ls-files')).toBe('file\n');
  const { outcome } = await run('set -e; echo 2 > b; git add b; git commit -qm b', {
    cwd: work,
    sandbox,
  });
  expect(outcome).toMatchObject({ exitCode: 0 });
  expect(outside(work, 'git status --porcelain; git ls-files')).toContain('b\nfile\n');
});

test.each([
  ['version 2', 'git config index.version 2'],
  ['version 4', 'git update-index --index-version 4'],
  ['split', 'git update-index --split-index'],
  ['sparse', 'git sparse-checkout set --cone --sparse-index d1'],
  ['in blocks', 'git config index.threads 4'],
])('an index is written as outside: %s', async (_, setting) => {
  const work = repository();
  outside(work, `${setting}; git update-index --force-write-index || true`);
  const command = `set -e; for d in d1 d2 d3; do mkdir -p $d; for i in $(seq 400); do echo $i > $d/file-$i; done; done
    git add --sparse . ; git commit -qm many; git add -N --sparse . ; git rm -q --cached d1/file-1; git stash -q; git stash pop -q
    : > .git/index.copy; cp .git/index .git/index.copy; cp .git/index.copy .git/index; mv .git/index .git/i; mv .git/i .git/index
    git fsck >/dev/null; git ls-files | wc -l`;
  const { output, outcome } = await run(`{ ${command}; } 2>&1`, {
    cwd: work,
    sandbox,
    timeoutMs: 60_000,
  });
  expect([outcome, output]).toMatchObject([
    { exitCode: 0 },
    { text: expect.stringMatching(/\n12\d\d\n$/) },
  ]);
  expect(outside(work, 'git ls-files | wc -l')).toMatch(/^12\d\d\n$/);
});

test('a change just after git has looked is seen', async () => {
  const work = repository();
  const command =
    'for i in $(seq 40); do echo $i > file; git add file; echo x$i | cut -c 1-$(printf %s $i | wc -c) > file; git diff --quiet && echo missed $i; done; true';
  const { output } = await run(command, { cwd: work, sandbox });
  expect(output).toMatchObject({ text: '' });
  writeFileSync(join(work, 'file'), '');
});
