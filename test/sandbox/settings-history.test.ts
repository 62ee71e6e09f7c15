import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git, write } from '../support/checkouts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  describeForAll,
  give,
  makeScene,
  type Person,
  people,
  runAs,
  useScenes,
} from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

/** Tracked settings: files, and files in directories. */
const SETTINGS = ['.mcp.json', '.npmrc', '.vscode/settings.json', '.claude/deep/settings.json'];

/** The same commands in two places: in one by itself, in the other one in a sandbox. */
interface Twins {
  readonly person: Person;
  readonly home: string;
  readonly bare: string;
  readonly work: string;
}

/** A repository with settings of `main` and of `release`, and none on `without`; every commit has `.zed`. */
function makeTwins(person: Person): Twins {
  const { home, work } = makeScene(scenes.path, people[0]);
  rmSync(join(work, '.vscode'), { recursive: true });
  rmSync(join(work, '.git'), { recursive: true });
  execFileSync('git', ['init', '-q', '-b', 'main', work]);
  git(work, 'config', 'user.email', 'somebody@example.com');
  git(work, 'config', 'user.name', 'Somebody');
  write(work, '.zed/settings.json', 'first\n');
  write(work, 'a', 'a\n');
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'first');
  for (const branch of ['main', 'release']) {
    git(work, 'checkout', '-q', '-B', branch);
    for (const file of SETTINGS) write(work, file, `${branch}\n`);
    write(work, '.zed/settings.json', `${branch}\n`);
    write(work, branch, 'own\n');
    git(work, 'add', '.');
    git(work, 'commit', '-qm', branch);
  }
  git(work, 'checkout', '-q', '-b', 'without', 'main~');
  git(work, 'checkout', '-q', 'main');
  const bare = join(work, '../bare');
  execFileSync('cp', ['-a', work, bare]);
  give(person, join(work, '..'));
  return { person, home, bare, work };
}

const ENVIRONMENT = {
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
  GIT_CONFIG_NOSYSTEM: '1',
};

/** Everything in a working tree that git sees, and what git says of it. */
function stateOf(work: string): string {
  const script = `git status --porcelain; git rev-parse HEAD; git ls-files -s
    find . -name .git -prune -o -type f -printf '%p %m ' -exec cat {} ';' -o -printf '%p %m %l\\n' | sort`;
  const env = { ...process.env, GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory' };
  return execFileSync('sh', ['-c', script], {
    cwd: work,
    encoding: 'utf8',
    env: { ...env, GIT_CONFIG_VALUE_0: '*' },
  });
}

/** Runs a command in both places. */
async function inBoth({ person, home, bare, work }: Twins, command: string) {
  const told = [];
  for (const [cwd, sandbox] of [
    [bare, undefined],
    [work, 'workspace-write'],
  ] as const) {
    const { result, text } = await runAs(person, { home }, command, {
      cwd,
      env: ENVIRONMENT,
      ...(sandbox && { sandbox }),
    });
    told.push({ outcome: result.outcome, text: text.replaceAll(cwd, 'WORK') });
  }
  const [outside, inside] = told;
  expect(inside).toEqual(outside);
  expect(stateOf(work)).toBe(stateOf(bare));
}

describeForAll('settings that the history of %s has', (person) => {
  test.each([
    'git checkout -q release && cat .mcp.json .vscode/* && git status --short',
    'git checkout -q without && ls -A',
    'git checkout -q without && git checkout -q main && git checkout -q release',
    'git checkout -q release && echo c > c && git add c && git commit -qm c && git rebase -q main',
    'git reset -q --hard release && git reset -q --hard without',
    'git stash -q -u; echo x > x; git stash -q -u && git stash pop -q',
    'git bisect start -q release without && git bisect good && git bisect reset -q main',
    'git merge -q -X theirs release -m merged && cat .npmrc',
    'git cherry-pick -X theirs release > /dev/null && cat .npmrc',
    'git restore -s release .npmrc && git checkout -q -- .npmrc && git checkout -q release -- .vscode',
    'git rm -q .npmrc && git commit -qm removed && git revert --no-edit HEAD > /dev/null',
    'git show release:.npmrc > new && mv new .npmrc && git diff --stat',
  ])('%s: the same as without a sandbox', async (command) => {
    await inBoth(makeTwins(person), command);
  });

  test('a setting that every commit has is put back when nothing comes in its place', async () => {
    const { home, work } = makeTwins(person);
    const options = { cwd: work, sandbox: 'workspace-write' };
    await runAs(person, { home }, 'rm .zed/settings.json; ls .zed', options);
    expect(readFileSync(join(work, '.zed/settings.json'), 'utf8')).toBe('main\n');
  });

  test('a setting that no commit has stays', async () => {
    const { home, work } = makeTwins(person);
    write(work, '.aider.conf.yml', 'own\n');
    give(person, work);
    const command = 'rm -f .aider.conf.yml; git stash -qu; git clean -qfdx; cat .aider.conf.yml';
    const { text } = await runAs(person, { home }, command, {
      cwd: work,
      sandbox: 'workspace-write',
    });
    expect(text).toMatch(/\nown\n$/);
    expect(readFileSync(join(work, '.aider.conf.yml'), 'utf8')).toBe('own\n');
  });
});

/** Ways to have a setting that the user never had. `$1`: its name. */
const WAYS = {
  'writes to it': 'echo evil > "$1"',
  'appends to it': 'echo evil >> "$1"',
  'renames a file to it': 'echo evil > new && mv -f new "$1"',
  'exchanges it': 'echo evil > new && mv --exchange new "$1"',
  'links to a file': 'echo evil > new && ln -sf "$PWD/new" "$1"',
  'gives a file a second name': 'echo evil > new && ln -f new "$1"',
  'removes it, and writes another': 'rm -f "$1"; echo evil > "$1"',
  'removes it, and renames a file to it': 'rm -f "$1"; echo evil > new; mv new "$1"',
  'removes it, and gives a file its name': 'rm -f "$1"; echo evil > new; ln new "$1"',
  'removes it, and links to a file': 'rm -f "$1"; echo evil > new; ln -s new "$1"',
  'removes it, and makes it by a link': 'rm -f "$1"; ln -s "$1" new; echo evil > new',
  'removes it, and makes a pipe': 'rm -f "$1"; mkfifo "$1"; mknod "$1" p',
  'goes on writing after it was closed':
    'rm -f "$1"; exec 3> "$1"; git show main:"$1" >&3; echo evil >&3; exec 3>&-; sleep 0.2',
  'writes by a second descriptor':
    'rm -f "$1"; exec 3> "$1"; exec 4> /proc/self/fd/3; git show main:"$1" >&3; exec 3>&-; echo evil >&4',
  'renames its directory':
    'mkdir -p new/x && echo evil > new/settings.json; d=$(dirname "$1"); mv -T new "$d"',
  'commits it, and checks it out':
    'b=$(echo evil | git hash-object -w --stdin); git update-index --cacheinfo 100644,$b,"$1"; git commit -qm evil; git checkout -q -f release; git checkout -q -f main; git checkout -q -f -',
  'fetches it, and checks it out':
    'git init -q ../work/other; cd other; mkdir -p "$(dirname "$1")"; git show --quiet; cp ../a "$1"; echo evil > "$1"; git add -fA; git -c user.name=a -c user.email=a@b commit -qm evil; cd ..; git -c protocol.file.allow=always fetch -q ./other HEAD; git checkout -q -f FETCH_HEAD',
  'replaces an object':
    'b=$(echo evil | git hash-object -w --stdin); git replace -f main:"$1" $b; rm -f "$1"; git checkout -q -f main -- "$1"',
  'moves a branch of the user':
    'b=$(echo evil | git hash-object -w --stdin); git checkout -q release; git read-tree main; git update-index --cacheinfo 100644,$b,"$1"; git update-ref refs/heads/main $(git commit-tree -m evil $(git write-tree)); git checkout -q -f main',
  'merges what neither side has':
    'git merge -q release; printf "evil\\n" > new; git rm -q --cached "$1"; git add -f new; mv new "$1"; git add "$1"',
} as const;

describeForAll('a setting that %s never had is not in effect', (person) => {
  const ways = Object.entries(WAYS);
  test.each(ways)('by a command that %s', async (_, way) => {
    const { home, work } = makeTwins(person);
    for (const name of ['.mcp.json', '.vscode/settings.json']) {
      const command = `set -- ${name}; ${way}`;
      await runAs(person, { home }, command, {
        cwd: work,
        env: ENVIRONMENT,
        sandbox: 'workspace-write',
      });
      const path = join(work, name);
      const text = existsSync(path) ? readFileSync(path, 'utf8') : 'none\n';
      expect(text, name).toMatch(/^(?:main|release|none)\n$/);
      execFileSync('rm', ['-rf', join(work, 'new'), join(work, 'other')]);
    }
  });
});
