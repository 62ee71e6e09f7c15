import { installed } from '../../../support/needs.js';

const NAMED =
  'export GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent EMAIL=a@b GIT_AUTHOR_NAME=a GIT_COMMITTER_NAME=a; ';
const COMMIT = 'git add -A; git commit -qm';

/** A repository with two branches that have gone apart, and files that it ignores. */
const REPOSITORY = `${NAMED}git init -qb main
mkdir src; for i in 1 2 3 4; do echo $i >src/f$i; done; printf 'out\\n*.log\\n' >.gitignore; ${COMMIT} one
git checkout -qb side; echo side >src/side; rm src/f4; ${COMMIT} two; echo 2 >>src/side; ${COMMIT} three
git checkout -q main; echo main >src/main; ${COMMIT} four
mkdir out; echo o >out/o; echo log >a.log`;

const GIT = { setup: REPOSITORY, needs: [installed('git')] };
const make = (
  title: string,
  command: string,
  counts: readonly [number, number, number, number],
) => ({
  ...{ title, counts, ...GIT },
  command: `${NAMED}${command}`,
});

/** Git, which replaces, removes and packs files of its own as well. */
export const GIT_SCENES = [
  make('git checkout', 'git checkout side', [1, 1, 2, 0]),
  make('git rebase', 'git rebase side', [1, 1, 1, 0]),
  make('git merge', 'git merge -m merged side', [1, 1, 1, 0]),
  make('git stash', 'echo x >>src/f1; echo y >new; git stash -u; git stash pop', [1, 1, 0, 0]),
  make('git gc', 'git gc -q --prune=now', [1, 0, 1, 0]),
  make('git clean', 'echo n >new; git clean -fdx', [0, 0, 2, 0]),
  make('git reset --hard', 'git reset -q --hard HEAD~1', [0, 1, 1, 0]),
  make('git commit --amend', 'git rm -q src/f1; git commit -q --amend -m other', [1, 1, 1, 0]),
];
